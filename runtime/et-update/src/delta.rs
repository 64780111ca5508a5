//! A delta file: magic bytes, signature, header, pieces.
//!
//! | field | bytes |
//! |---|---|
//! | `ETDELTA1` | 8 |
//! | length of the header | 4 |
//! | whether the delta is signed: 0 or 1 | 4 |
//! | signature; zeros without a signature | 64 |
//! | header | |
//! | pieces, in the order of the header | |

use std::io::{Read, Seek, SeekFrom, Write};

use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::limits::HEADER_MOST;
use crate::reader::Reader;
use crate::signature::{PublicKey, Signature, check};
use crate::{Error, Header, Piece, ReadSeek};

const MAGIC: &[u8; 8] = b"ETDELTA1";
const START: usize = 16 + SIGNATURE_SIZE;
/// The bytes of a signature.
pub const SIGNATURE_SIZE: usize = 64;

/// An open delta, whose header is checked.
pub struct Delta {
    /// The header.
    pub header: Header,
    digest: blake3::Hash,
    signature: Option<Signature>,
    file: Box<dyn ReadSeek>,
}

impl Delta {
    /// Reads the header, and checks the length of the file.
    ///
    /// # Errors
    /// [`Error::Malformed`] for bytes that are no delta.
    pub fn open(mut file: Box<dyn ReadSeek>) -> Result<Self, Error> {
        let mut start = [0; START];
        file.read_exact(&mut start).map_err(|_| Error::Malformed("the file is no update"))?;
        let mut reader = Reader(&start);
        if reader.bytes(MAGIC.len())? != MAGIC {
            return Err(Error::Malformed("the file is no update"));
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
        let delta = Self { header: Header::decode(&header)?, digest, signature, file };
        delta.with_whole_body(length)
    }

    fn with_whole_body(mut self, header: usize) -> Result<Self, Error> {
        let body = (START + header) as u64;
        let whole = body + self.header.body_size();
        let size = self.file.seek(SeekFrom::End(0));
        if !size.is_ok_and(|size| size == whole) {
            return Err(Error::Malformed("the file is shorter or longer than its header says"));
        }
        let back = self.file.seek(SeekFrom::Start(body));
        back.map(|_| self).map_err(|_| Error::Malformed("the file cannot be read"))
    }

    /// Checks the signature.
    ///
    /// # Errors
    /// [`Error::Unsigned`] or [`Error::WrongSignature`].
    pub fn check_signature(&self, key: &PublicKey) -> Result<(), Error> {
        check(key, self.digest, self.signature.as_ref())
    }

    /// The operations of the next piece, which is described by the header.
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
        let operations = decompress_to_vec_with_limit(&stored, size).ok().filter(|operations| operations.len() == size);
        operations.ok_or(Error::Malformed("a piece cannot be decompressed"))
    }
}

/// Writes everything in front of the pieces.
///
/// # Errors
/// Failures of `out`.
pub fn write_start(header: &[u8], signature: Option<&Signature>, out: &mut dyn Write) -> std::io::Result<()> {
    let length = u32::try_from(header.len()).unwrap_or(u32::MAX);
    out.write_all(MAGIC)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&u32::from(signature.is_some()).to_le_bytes())?;
    out.write_all(signature.map_or(&[0; SIGNATURE_SIZE], |signature| &signature.0))?;
    out.write_all(header)
}
