//! The start of a file with a signed header: magic bytes, signature, header. Pieces follow.
//!
//! | field | bytes |
//! |---|---|
//! | `ETDELTA1` or `ETBUNDL1` | 8 |
//! | length of the header | 4 |
//! | whether the file is signed: 0 or 1 | 4 |
//! | signature; zeros without a signature | 64 |
//! | header | |
//! | pieces, in the order of the header | |

use std::io::{Read, Seek, SeekFrom, Write};

use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::limits::HEADER_MOST;
use crate::reader::Reader;
use crate::signature::{PublicKey, Signature, check};
use crate::{Error, Kind, Piece, ReadSeek};

/// The bytes of a signature.
pub const SIGNATURE_SIZE: usize = 64;
const START: usize = 16 + SIGNATURE_SIZE;

/// An open file, behind its header.
pub(crate) struct Envelope {
    kind: Kind,
    digest: blake3::Hash,
    signature: Option<Signature>,
    /// Where the pieces start.
    pub(crate) body: u64,
    pub(crate) file: Box<dyn ReadSeek>,
}

impl Envelope {
    /// Reads the bytes of the header.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a file of another kind.
    pub(crate) fn open(kind: Kind, mut file: Box<dyn ReadSeek>) -> Result<(Self, Vec<u8>), Error> {
        let other = match kind {
            Kind::Update => "the file is no update",
            Kind::Bundle => "the file is no bundle",
        };
        let mut start = [0; START];
        file.read_exact(&mut start).map_err(|_| Error::Malformed(other))?;
        let mut reader = Reader(&start);
        if reader.bytes(kind.magic().len())? != kind.magic() {
            return Err(Error::Malformed(other));
        }
        let length = reader.word()? as usize;
        if length > HEADER_MOST {
            return Err(Error::Malformed("the header is longer than 16 MiB"));
        }
        let signature = match (reader.word()?, reader.0.first_chunk()) {
            (0, _) => None,
            (1, Some(bytes)) => Some(Signature(*bytes)),
            _ => return Err(Error::Malformed("an unknown kind of signature")),
        };
        let mut header = Vec::new();
        let read = file.by_ref().take(length as u64).read_to_end(&mut header);
        if !read.is_ok_and(|read| read == length) {
            return Err(Error::Malformed("the header ends early"));
        }
        let digest = blake3::hash(&header);
        Ok((Self { kind, digest, signature, body: (START + length) as u64, file }, header))
    }

    /// Checks that `size` bytes follow the header, and goes back to the first.
    pub(crate) fn check_body(&mut self, size: u64) -> Result<(), Error> {
        let found = self.file.seek(SeekFrom::End(0));
        if !found.is_ok_and(|found| Some(found) == self.body.checked_add(size)) {
            return Err(Error::Malformed("the file is shorter or longer than its header says"));
        }
        self.go_to(0)
    }

    /// Goes to a byte behind the header.
    pub(crate) fn go_to(&mut self, offset: u64) -> Result<(), Error> {
        let back = self.file.seek(SeekFrom::Start(self.body.saturating_add(offset)));
        back.map(drop).map_err(|_| Error::Malformed("the file cannot be read"))
    }

    /// Checks the signature.
    pub(crate) fn check_signature(&self, key: &PublicKey) -> Result<(), Error> {
        check(key, self.kind, self.digest, self.signature.as_ref())
    }

    /// Whether there is a signature, of any key.
    pub(crate) const fn is_signed(&self) -> bool {
        self.signature.is_some()
    }

    /// The bytes of the next piece, which is described by the header.
    pub(crate) fn next_piece(&mut self, piece: &Piece) -> Result<Vec<u8>, Error> {
        let mut stored = vec![0; piece.stored as usize];
        self.file.read_exact(&mut stored).map_err(|_| Error::Malformed("a piece ends early"))?;
        if blake3::hash(&stored) != piece.digest {
            return Err(Error::Malformed("a piece has another digest than the header says"));
        }
        if piece.stored == piece.size {
            return Ok(stored);
        }
        let size = piece.size as usize;
        let bytes = decompress_to_vec_with_limit(&stored, size).ok().filter(|bytes| bytes.len() == size);
        bytes.ok_or(Error::Malformed("a piece cannot be decompressed"))
    }
}

/// Writes everything in front of the pieces.
///
/// # Errors
/// Failures of `out`.
pub fn write_start(
    kind: Kind,
    header: &[u8],
    signature: Option<&Signature>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let length = u32::try_from(header.len()).unwrap_or(u32::MAX);
    out.write_all(kind.magic())?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&u32::from(signature.is_some()).to_le_bytes())?;
    out.write_all(signature.map_or(&[0; SIGNATURE_SIZE], |signature| &signature.0))?;
    out.write_all(header)
}
