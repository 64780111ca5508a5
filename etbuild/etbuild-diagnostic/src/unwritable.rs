//! The error for a result that cannot be written.

use std::io::{Error, ErrorKind};
use std::path::Path;

use crate::{Code, Diagnostic};

/// Failures for want of room.
const FULL: &[ErrorKind] = &[ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge];

/// Failures with a remedy of their own.
const HINTS: &[(&[ErrorKind], &str)] = &[
    (FULL, "free some space, or write to another disk"),
    (&[ErrorKind::IsADirectory, ErrorKind::ResourceBusy], "add a file name: the path is a folder"),
    (&[ErrorKind::NotADirectory], "choose another path: a part of the path is a file, and no folder"),
    (&[ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem], "choose a folder that you may write to"),
];

/// A result at `path` that the system refused to write.
pub fn unwritable(path: &Path, error: &Error) -> Diagnostic {
    let code = if FULL.contains(&error.kind()) { Code::DiskFull } else { Code::OutputUnwritable };
    let found = HINTS.iter().find(|(kinds, _)| kinds.contains(&error.kind()));
    let help = found.map_or("choose another path, in a folder that exists", |(_, help)| help);
    Diagnostic::error(code, format!("`{}` cannot be written: {error}", path.display())).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_has_a_code_of_its_own_and_every_failure_a_hint() {
        for (kind, code) in [
            (ErrorKind::StorageFull, Code::DiskFull),
            (ErrorKind::IsADirectory, Code::OutputUnwritable),
            (ErrorKind::Other, Code::OutputUnwritable),
        ] {
            let found = unwritable(Path::new("out/x"), &kind.into());
            assert!(
                found.code == code && found.help.is_some() && found.message.starts_with("`out/x` cannot"),
                "{found:?}"
            );
        }
    }
}
