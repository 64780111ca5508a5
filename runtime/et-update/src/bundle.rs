//! A bundle file: the manifest and its pieces, as `envelope` describes. A piece that several
//! files share is read again for each file.

use std::io::Write;

use blake3::Hasher;

use crate::envelope::Envelope;
use crate::signature::PublicKey;
use crate::{EntryFile, Error, Kind, Manifest, ReadSeek};

/// An open bundle, whose manifest is checked.
pub struct Bundle {
    /// The manifest.
    pub manifest: Manifest,
    envelope: Envelope,
    /// Where each piece starts, behind the manifest.
    offsets: Vec<u64>,
}

impl Bundle {
    /// Reads the manifest, and checks the length of the file.
    ///
    /// # Errors
    /// [`Error::Malformed`] for bytes that are no bundle.
    pub fn open(file: Box<dyn ReadSeek>) -> Result<Self, Error> {
        let (mut envelope, header) = Envelope::open(Kind::Bundle, file)?;
        let manifest = Manifest::decode(&header)?;
        envelope.check_body(manifest.body_size())?;
        let offsets = manifest.pieces.iter().scan(0, |end, piece| {
            let start = *end;
            *end += u64::from(piece.stored);
            Some(start)
        });
        Ok(Self { offsets: offsets.collect(), manifest, envelope })
    }

    /// Checks the signature.
    ///
    /// # Errors
    /// [`Error::Unsigned`] or [`Error::WrongSignature`].
    pub fn check_signature(&self, key: &PublicKey) -> Result<(), Error> {
        self.envelope.check_signature(key)
    }

    /// Whether the bundle has a signature, of any key.
    pub const fn is_signed(&self) -> bool {
        self.envelope.is_signed()
    }

    /// Writes the bytes of a file.
    ///
    /// # Errors
    /// [`Error::Malformed`] for other bytes than the manifest says; failures of `out` go through `failed`.
    pub fn write_file(
        &mut self,
        file: &EntryFile,
        out: &mut dyn Write,
        failed: &dyn Fn(std::io::Error) -> Error,
    ) -> Result<(), Error> {
        const OUTSIDE: Error = Error::Malformed("a file has a piece that the bundle lacks");
        let mut hasher = Hasher::new();
        for place in &file.pieces {
            let place = *place as usize;
            let piece = *self.manifest.pieces.get(place).ok_or(OUTSIDE)?;
            self.envelope.go_to(*self.offsets.get(place).ok_or(OUTSIDE)?)?;
            let bytes = self.envelope.next_piece(&piece)?;
            hasher.update(&bytes);
            out.write_all(&bytes).map_err(failed)?;
        }
        if hasher.finalize() == file.version.digest {
            return Ok(());
        }
        Err(Error::Malformed("a file has another digest than the header says"))
    }
}
