//! Files of models, mapped from the store.

use etbuild_store::{Blob, Digest};

use super::{DataFile, Db, hashed_file, model_file};
use crate::session::interrupt;

/// A model's file in the store, so that an edit during the build cannot reach a result under the old key.
pub fn mapped(db: &dyn Db, model: DataFile, expected: Digest) -> Blob {
    if let Some(file) = db.world().held(expected) {
        return file;
    }
    let file = model_file::keep(db.world(), model.path(db)).unwrap_or_else(|error| interrupt(error));
    hashed_file::check(model.path(db), Some(expected), file.reference().digest);
    db.world().hold(&file);
    file
}
