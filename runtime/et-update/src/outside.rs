//! Updates of a deployed version from outside: by an app that loads the program file, or on a test bench.
//!
//! A deployed version is a folder, or a program file. Nothing counts the starts of an app: the app says when the new version has proved
//! itself ([`confirm`]), or returns to the earlier version ([`rollback`]).

use std::io;
use std::path::Path;

use crate::disk::Disk;
use crate::{Applied, Delta, Error, Place, PublicKey, Recovery, SystemDisk};

/// Opens the file of an update.
///
/// # Errors
/// A file that cannot be read, or is no update.
pub fn open(update: &Path) -> Result<Delta, Error> {
    let file = SystemDisk.open(update).and_then(|file| file.ok_or_else(|| io::ErrorKind::NotFound.into()));
    Delta::open(file.map_err(Error::at(update))?)
}

/// Applies an update to a deployed version; with a key, only an update with the right signature.
///
/// # Errors
/// As of [`apply`](crate::apply) and [`open`].
pub fn apply(deployed: &Path, update: &Path, key: Option<&PublicKey>) -> Result<Applied, Error> {
    let delta = open(update)?;
    let place = if deployed.is_dir() { Place::folder(deployed, &delta.header.name) } else { Place::file(deployed) };
    crate::apply(&SystemDisk, &place, delta, key)
}

/// Completes the switches that a stopped process left open: [`Recovery::Completed`] if there was one.
///
/// # Errors
/// As of [`recover`](crate::recover).
pub fn recover(deployed: &Path) -> Result<Recovery, Error> {
    if !deployed.is_dir() {
        return crate::recover(&SystemDisk, &Place::file(deployed));
    }
    let mut done = Recovery::None;
    for name in updated_names(deployed)? {
        if let Recovery::Completed = crate::recover(&SystemDisk, &Place::folder(deployed, &name))? {
            done = Recovery::Completed;
        }
    }
    Ok(done)
}

/// Returns to the earlier version.
///
/// # Errors
/// As of [`rollback`](crate::rollback), and [`Error::SeveralVersions`].
pub fn rollback(deployed: &Path) -> Result<(), Error> {
    crate::rollback(&SystemDisk, &updated(deployed)?)
}

/// Removes the earlier version.
///
/// # Errors
/// As of [`confirm`](crate::confirm), and [`Error::SeveralVersions`].
pub fn confirm(deployed: &Path) -> Result<(), Error> {
    crate::confirm(&SystemDisk, &updated(deployed)?)
}

/// The place of an updated version: the folder of the update has the name of the version.
fn updated(deployed: &Path) -> Result<Place, Error> {
    if !deployed.is_dir() {
        return Ok(Place::file(deployed));
    }
    let names = updated_names(deployed)?;
    match &names[..] {
        [name] => Ok(Place::folder(deployed, name)),
        [] => Err(Error::NoEarlierVersion),
        _ => Err(Error::SeveralVersions { folder: deployed.to_owned(), names: names.join(", ") }),
    }
}

/// The names of the updated versions in a folder.
fn updated_names(folder: &Path) -> Result<Vec<String>, Error> {
    let found = SystemDisk.list(folder).map_err(Error::at(folder))?;
    Ok(found.iter().filter_map(|path| Some(name(path.file_name()?.to_str()?)?.to_owned())).collect())
}

fn name(file: &str) -> Option<&str> {
    file.strip_prefix('.')?.strip_suffix(".update")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_with_one_updated_version_has_its_place() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(updated(folder.path()), Err(Error::NoEarlierVersion)));
        assert!(matches!(recover(folder.path()), Ok(Recovery::None)));
        fs::create_dir(folder.path().join(".digits.update")).unwrap();
        assert_eq!(updated(folder.path()).unwrap(), Place::folder(folder.path(), "digits"));
        fs::create_dir(folder.path().join(".other.update")).unwrap();
        assert!(matches!(updated(folder.path()), Err(Error::SeveralVersions { .. })));
        assert!(matches!(recover(folder.path()), Ok(Recovery::None)));
    }
}
