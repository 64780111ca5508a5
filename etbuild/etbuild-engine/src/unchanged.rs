//! Reading a file that a key already names by its digest: an edit in between must not be recorded under that key.

use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_store::Digest;

use crate::db::{DataFile, Db};
use crate::failure;
use crate::stage::{Transient, interrupt};

/// The bytes of a file, which are those that its digest was taken of.
pub fn read(db: &dyn Db, file: DataFile) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let path = file.path(db);
    let bytes = db.world().system().read(path).map_err(|error| failure::unreadable(path, &error))?;
    check(path, file.digest(db).ok(), Digest::of(&bytes));
    Ok(bytes)
}

/// Interrupts the query where the file has other bytes than when its digest was taken.
pub fn check(path: &Path, expected: Option<Digest>, found: Digest) {
    if expected != Some(found) {
        let message = format!("`{}` changed while it was read", path.display());
        let diagnostic = Diagnostic::error(Code::FileUnreadable, message).help("run the command again");
        interrupt(Transient::Environment(Box::new(diagnostic)));
    }
}
