//! A delta file: a header and the pieces of its files, as `envelope` describes.

use crate::envelope::Envelope;
use crate::signature::PublicKey;
use crate::{Error, Header, Kind, Piece, ReadSeek};

/// An open delta, whose header is checked.
pub struct Delta {
    /// The header.
    pub header: Header,
    envelope: Envelope,
}

impl Delta {
    /// Reads the header, and checks the length of the file.
    ///
    /// # Errors
    /// [`Error::Malformed`] for bytes that are no delta.
    pub fn open(file: Box<dyn ReadSeek>) -> Result<Self, Error> {
        let (mut envelope, header) = Envelope::open(Kind::Update, file)?;
        let header = Header::decode(&header)?;
        envelope.check_body(header.body_size())?;
        Ok(Self { header, envelope })
    }

    /// Checks the signature.
    ///
    /// # Errors
    /// [`Error::Unsigned`] or [`Error::WrongSignature`].
    pub fn check_signature(&self, key: &PublicKey) -> Result<(), Error> {
        self.envelope.check_signature(key)
    }

    /// The operations of the next piece, which is described by the header.
    pub(crate) fn next_piece(&mut self, piece: &Piece) -> Result<Vec<u8>, Error> {
        self.envelope.next_piece(piece)
    }
}
