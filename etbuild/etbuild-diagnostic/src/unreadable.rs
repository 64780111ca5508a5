//! The error for a file that cannot be read.

use std::io::Error;
use std::path::Path;

use crate::{Code, Diagnostic};

/// A file at `path` that the system refused to read.
pub fn unreadable(path: &Path, error: &Error) -> Diagnostic {
    let message = format!("`{}` cannot be read: {error}", path.display());
    Diagnostic::error(Code::FileUnreadable, message).help("is it a file, and may you read it?")
}
