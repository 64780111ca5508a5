//! Reading a file whose digest is in a key: an edit in between must not be recorded under that key.

use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_store::Digest;

use crate::db::{DataFile, Db};
use crate::failure;
use crate::stage::{Transient, interrupt};

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
