//! The first start of a binary beside a bundle, and installations from a bundle on demand.

use std::path::Path;

use crate::{Binary, Bundle, Disk, Error, Machine, Place, PublicKey, SystemDisk, choose, install};

/// What an installation did.
pub(crate) struct Taken {
    /// Whether a file changed.
    pub(crate) is_changed: bool,
    /// Which target was taken, and why.
    pub(crate) text: String,
}

/// Installs from the bundle beside the binary, where the program file is missing or a chip is named; `None` without a reason to.
pub(crate) fn first_start(binary: &Binary, place: &Place, chip: Option<&str>) -> Result<Option<Taken>, Error> {
    let path = place.bundle();
    let is_missing = |program: &str| !SystemDisk.exists(&place.live(program));
    let is_wanted = chip.is_some() || binary.program.is_some_and(is_missing);
    if !is_wanted || (chip.is_none() && !SystemDisk.exists(&path)) {
        return Ok(None);
    }
    from_bundle(binary, place, &path, chip).map(Some)
}

/// Installs the files of the target that fits this machine.
pub(crate) fn from_bundle(binary: &Binary, place: &Place, path: &Path, chip: Option<&str>) -> Result<Taken, Error> {
    let file = SystemDisk.open(path).and_then(|file| file.ok_or_else(|| std::io::ErrorKind::NotFound.into()));
    let mut bundle = Bundle::open(file.map_err(Error::at(path))?)?;
    binary.key.map(PublicKey).as_ref().map_or(Ok(()), |key| bundle.check_signature(key))?;
    if bundle.manifest.name != binary.name {
        return Err(Error::WrongBase { file: bundle.manifest.name, problem: "is another model" });
    }
    let (entry, why) = choose(&bundle.manifest, &Machine::here(), chip)?;
    let entry = entry.clone();
    let has_program = |program: &str| entry.files.iter().any(|file| file.name == program);
    if !binary.program.is_none_or(has_program) {
        return Err(Error::Malformed("a target lacks the program file"));
    }
    let is_changed = install(&SystemDisk, place, &mut bundle, &entry)?;
    Ok(Taken { is_changed, text: format!("took `{}` from `{}`: {why}", entry.target, path.display()) })
}
