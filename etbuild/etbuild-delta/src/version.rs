//! The files of a deployed version that a device runs.

use std::path::{Path, PathBuf};

use et_format::{DATA_IDENTIFIER, IDENTIFIER};
use et_module::FileBytes;

use crate::Error;

/// A file of a version.
pub struct VersionFile {
    /// The name in the folder.
    pub name: String,
    /// The path on this machine.
    pub path: PathBuf,
    /// The bytes, mapped.
    pub bytes: FileBytes,
    /// Whether the file is executable.
    pub executable: bool,
}

/// The file at `path`, or the files in the folder at `path` that a device runs: binaries, libraries that are loaded, program files, data files.
///
/// # Errors
/// [`Error::File`] for unreadable files, [`Error::NoPair`] for a folder without such files.
pub fn version_files(path: &Path) -> Result<Vec<VersionFile>, Error> {
    if !path.is_dir() {
        return Ok(vec![read(path)?]);
    }
    let entries = std::fs::read_dir(path).map_err(Error::at(path))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<PathBuf>, _>>();
    let mut paths = paths.map_err(Error::at(path))?;
    paths.retain(|path| path.is_file());
    paths.sort();
    let mut files = paths.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    files.retain(|file| et_update::is_file_name(&file.name) && is_run(&file.bytes));
    if files.is_empty() {
        return Err(Error::NoPair(format!("`{}` has no binary and no program file", path.display())));
    }
    Ok(files)
}

fn read(path: &Path) -> Result<VersionFile, Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bytes = FileBytes::open(path).map_err(|error| match error {
        et_module::Error::File { path, source } => Error::File { path, source },
        other => Error::NoPair(other.to_string()),
    })?;
    let executable = is_executable(&bytes);
    Ok(VersionFile { name, path: path.to_owned(), bytes, executable })
}

fn is_run(bytes: &[u8]) -> bool {
    let identifier = bytes.get(4..8);
    is_executable(bytes) || identifier == Some(IDENTIFIER) || identifier == Some(DATA_IDENTIFIER)
}

/// Whether the bytes are those of a binary: ELF, Windows' PE, Mach-O, WebAssembly.
fn is_executable(bytes: &[u8]) -> bool {
    const STARTS: [&[u8]; 4] = [b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\0asm"];
    STARTS.iter().any(|start| bytes.starts_with(start))
}
