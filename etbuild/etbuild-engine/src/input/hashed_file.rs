//! Reading a file whose digest is in a key: an edit in between must not be recorded under that key.

use std::io;
use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_store::Digest;

use super::{DataFile, Db};
use crate::failure;
use crate::session::{Transient, interrupt};

/// A file as the input of an action: the key has the digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HashedFile {
    file: DataFile,
    /// The digest of the bytes.
    pub digest: Digest,
}

impl HashedFile {
    /// The file, or the error of reading.
    pub fn of(db: &dyn Db, file: DataFile) -> Result<Self, io::ErrorKind> {
        Ok(Self { file, digest: file.digest(db)? })
    }

    /// The path in the user's form.
    pub fn path(self, db: &dyn Db) -> &Path {
        self.file.path(db)
    }

    /// The file as an input.
    pub const fn input(self) -> DataFile {
        self.file
    }

    /// The bytes, with the digest of the key.
    pub fn read(self, db: &dyn Db) -> Result<Vec<u8>, Vec<Diagnostic>> {
        read(db, self.file)
    }
}

/// The bytes of a file, with the digest of the key.
pub fn read(db: &dyn Db, file: DataFile) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let path = file.path(db);
    let bytes = db.world().system().read(path).map_err(|error| failure::unreadable(path, &error))?;
    check(path, file.digest(db).ok(), Digest::of(&bytes));
    Ok(bytes)
}

/// Interrupts the query where the bytes of the file have another digest than before.
pub fn check(path: &Path, expected: Option<Digest>, found: Digest) {
    if expected != Some(found) {
        let message = format!("`{}` changed while it was read", path.display());
        let diagnostic = Diagnostic::error(Code::FileUnreadable, message).help("run the command again");
        interrupt(Transient::Environment(Box::new(diagnostic)));
    }
}
