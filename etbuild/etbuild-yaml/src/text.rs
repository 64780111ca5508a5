//! The text of a file, under the size limit.

use std::io;
use std::path::Path;
use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_system::System;

use crate::limits;

/// Reads the text of a YAML file. A file over the size limit is refused before reading.
///
/// # Errors
/// `ETB0201`, `ETB0202`, `ETB0102` or `ETB0115`, without a place: the caller adds the place that names the file.
pub fn read_text(system: &dyn System, path: &Path) -> Result<Arc<str>, Diagnostic> {
    let size = system.stamp(path).map_err(|error| unreadable(path, &error))?.size;
    if size > limits::FILE_BYTES {
        let message = format!("`{}` has {size} bytes; the limit is 1 MiB", path.display());
        return Err(Diagnostic::error(Code::FileTooLarge, message).help("check that this is the intended file"));
    }
    let bytes = system.read(path).map_err(|error| unreadable(path, &error))?;
    // Zeros are valid UTF-8, but of no text: archives and firmware begin so.
    if let Some(zero) = bytes.iter().position(|byte| *byte == 0) {
        return Err(not_text(path, &bytes, zero));
    }
    let text =
        String::from_utf8(bytes).map_err(|error| not_text(path, error.as_bytes(), error.utf8_error().valid_up_to()))?;
    Ok(text.into())
}

fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            let message = format!("file `{path}` not found");
            Diagnostic::error(Code::FileMissing, message)
                .help("check the spelling; paths are relative to the file that contains them")
        }
        _ => {
            let message = format!("failed to read `{path}`: {error}");
            Diagnostic::error(Code::FileUnreadable, message)
                .help("check that the path is a file and that you have permission to read it")
        }
    }
}

fn not_text(path: &Path, bytes: &[u8], valid: usize) -> Diagnostic {
    let line = 1 + bytes.iter().take(valid).filter(|byte| **byte == b'\n').count();
    let is_utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let reason =
        if is_utf16 { "the encoding is UTF-16".to_owned() } else { format!("line {line} has an invalid byte") };
    let message = format!("`{}` is not UTF-8 text: {reason}", path.display());
    Diagnostic::error(Code::NotText, message).help("check that this is the intended file, and save the file as UTF-8")
}

#[cfg(test)]
mod tests {
    use etbuild_system::MemorySystem;

    use super::*;

    #[test]
    fn an_oversized_or_binary_file_is_refused() {
        let large = vec![b' '; 50 << 20];
        let system = MemorySystem::with_files([
            ("large", large),
            ("binary", vec![0xff, 0xfe]),
            ("zip", b"PK\0".to_vec()),
            ("good", b"a: 1".to_vec()),
        ]);
        let code = |name: &str| read_text(&system, Path::new(name)).map_err(|diagnostic| diagnostic.code);
        assert_eq!(code("large"), Err(Code::FileTooLarge));
        assert_eq!(code("binary"), Err(Code::NotText));
        assert_eq!(code("zip"), Err(Code::NotText));
        assert_eq!(code("absent"), Err(Code::FileMissing));
        assert_eq!(code("good"), Ok("a: 1".into()));
    }
}
