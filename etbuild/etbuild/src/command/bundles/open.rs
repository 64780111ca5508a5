//! Bundles and their files on this machine.

use std::path::{Path, PathBuf};

use et_update::{Bundle, Disk, EntryFile, Error, Manifest, SystemDisk};
use etbuild_delta::public_key;
use etbuild_diagnostic::{Diagnostic, unreadable};

use crate::command::delta::{of_update, refused};

/// Opens a bundle, whose signature is checked with a key of 64 hexadecimal digits.
pub fn open(path: &Path, key: Option<&str>) -> Result<Bundle, Vec<Diagnostic>> {
    let key = key.map(public_key).transpose().map_err(refused)?;
    let file = SystemDisk.open(path).and_then(|file| file.ok_or_else(|| std::io::ErrorKind::NotFound.into()));
    let bundle = Bundle::open(file.map_err(|error| vec![unreadable(path, &error)])?).map_err(failed)?;
    key.as_ref().map_or(Ok(()), |key| bundle.check_signature(key)).map_err(failed)?;
    Ok(bundle)
}

/// Writes a file of a bundle to a folder, in place of any; a file that stands there stays until the new one is complete.
pub fn write(bundle: &mut Bundle, file: &EntryFile, folder: &Path) -> Result<PathBuf, Vec<Diagnostic>> {
    let path = folder.join(&file.name);
    let part = folder.join(format!(".{}.part", file.name));
    let at = |source| Error::File { path: path.clone(), source };
    std::fs::create_dir_all(folder).map_err(|error| failed(at(error)))?;
    let written = SystemDisk.create(&part, file.executable).map_err(at).and_then(|mut out| {
        bundle.write_file(file, &mut out, &at)?;
        out.sync().map_err(at)
    });
    let renamed = written.and_then(|()| SystemDisk.rename(&part, &path).map_err(at));
    renamed.map_err(|error| {
        // The first failure is the one to tell.
        let _ = SystemDisk.remove(&part);
        failed(error)
    })?;
    Ok(path)
}

/// The failure to find `wanted` in a bundle.
pub fn no_target(manifest: &Manifest, wanted: &str) -> Error {
    let known: Vec<&str> = manifest.entries.iter().map(|entry| entry.target.as_str()).collect();
    Error::NoTarget { wanted: wanted.to_owned(), known: known.join(", ") }
}

/// The diagnostics of a failure that devices have too.
pub fn failed(error: Error) -> Vec<Diagnostic> {
    vec![of_update(&error)]
}
