//! The archive for Android of a recipe: the libraries of all processors that the command built for.

use std::path::{Path, PathBuf};

use etbuild_diagnostic::{Diagnostic, unwritable};
use etbuild_link::{LibraryForm, android_archive};

use super::joined::{Group, join};
use super::package::write_changed;
use super::{OutputFile, UnitReport};
use crate::failure;
use crate::link;
use crate::session::World;
use crate::unit::Unit;

/// Writes the archive of each recipe with libraries of several processors to the folder of the recipe.
pub fn join_processors(world: &World, units: &[Unit], reports: &mut [UnitReport], out: &Path) {
    let processor = |unit: &Unit, report: &UnitReport| {
        link::compile_target(unit.target.rust()).android_abi().filter(|_| is_archived(report))
    };
    join(units, reports, processor, |name, libraries| match libraries.len() {
        1 => remove_stale(world, &joint(out, name)).map(|()| Vec::new()),
        _ => archive(world, name, libraries, out).map(|file| vec![file]),
    });
}

/// Whether the unit wrote an archive of its own, and so a library.
fn is_archived(report: &UnitReport) -> bool {
    report.files.iter().any(|file| file.path.extension().is_some_and(|ending| ending == "aar"))
}

/// Processors have the names that Android has for them.
fn archive(
    world: &World,
    name: &str,
    libraries: &Group<'_, &'static str>,
    out: &Path,
) -> Result<OutputFile, Vec<Diagnostic>> {
    let file = LibraryForm::StaticAndShared.loaded_name(name).unwrap_or_default();
    let libraries = libraries.libraries(world, out, &file)?;
    let libraries = libraries.iter().map(|(abi, bytes)| (*abi, bytes.as_slice())).collect();
    let bytes = android_archive(name, &libraries).map_err(|error| failure::internal(&error.to_string()))?;
    write_changed(world, joint(out, name), &bytes).map_err(|error| vec![*error])
}

/// The archive of all processors.
fn joint(out: &Path, name: &str) -> PathBuf {
    out.join(name).join(format!("{name}.aar"))
}

/// Removes the archive that an earlier command wrote for more processors: its libraries are of another build.
fn remove_stale(world: &World, path: &Path) -> Result<(), Vec<Diagnostic>> {
    if world.system().stamp(path).is_err() {
        return Ok(());
    }
    world.system().remove(path).map_err(|error| vec![unwritable(path, &error)])
}
