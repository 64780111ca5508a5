//! Files of models in the store.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_store::{Blob, Digest};

use crate::input::{DataFile, Db, hashed_file, model_file};
use crate::session::interrupt;

/// A model's file in the store, so that an edit during the import cannot reach a result under the old key.
pub fn archive(db: &dyn Db, model: DataFile, expected: Digest) -> Blob {
    if let Some(archive) = db.world().held(expected) {
        return archive;
    }
    let archive = model_file::keep(db.world(), model.path(db)).unwrap_or_else(|error| interrupt(error));
    hashed_file::check(model.path(db), Some(expected), archive.reference().digest);
    db.world().hold(&archive);
    archive
}

/// A model cannot be read.
pub fn unreadable(db: &dyn Db, model: DataFile, error: std::io::ErrorKind) -> Diagnostic {
    let message = format!("the model `{}` cannot be read: {error}", model.path(db).display());
    Diagnostic::error(Code::ModelUnreadable, message)
}
