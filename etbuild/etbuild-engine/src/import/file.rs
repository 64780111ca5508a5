//! Files of models that cannot be read.

use etbuild_diagnostic::{Code, Diagnostic};

use crate::input::{DataFile, Db};

/// A model cannot be read.
pub fn unreadable(db: &dyn Db, model: DataFile, error: std::io::ErrorKind) -> Diagnostic {
    let message = format!("the model `{}` cannot be read: {error}", model.path(db).display());
    Diagnostic::error(Code::ModelUnreadable, message)
}
