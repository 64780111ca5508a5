//! The package for Swift of a recipe: the libraries of all platforms of Apple that the command built for.

use std::path::Path;

use etbuild_diagnostic::Diagnostic;
use etbuild_link::{ApplePlatform, LibraryForm, swift_package};

use super::joined::{Group, join};
use super::package::write_changed;
use super::{OutputFile, UnitReport};
use crate::failure;
use crate::link;
use crate::session::World;
use crate::unit::Unit;

/// Writes the package of each recipe with libraries for Apple to the folder of the recipe.
pub fn join_platforms(world: &World, units: &[Unit], reports: &mut [UnitReport], out: &Path) {
    let platform = |unit: &Unit, report: &UnitReport| {
        let library = out.join(unit.folder()).join(LibraryForm::Static.linked_name(unit.name()));
        let is_written = report.files.iter().any(|file| file.path == library);
        ApplePlatform::of(&link::compile_target(unit.target.rust())).filter(|_| is_written)
    };
    join(units, reports, platform, |name, libraries| package(world, name, libraries, out));
}

fn package(
    world: &World,
    name: &str,
    libraries: &Group<'_, ApplePlatform>,
    out: &Path,
) -> Result<Vec<OutputFile>, Vec<Diagnostic>> {
    let libraries = libraries.libraries(world, out, &LibraryForm::Static.linked_name(name))?;
    let libraries = libraries.iter().map(|(platform, bytes)| (*platform, bytes.as_slice())).collect();
    let files = swift_package(name, &libraries).map_err(|error| failure::internal(&error.to_string()))?;
    let folder = out.join(name).join("swift");
    let written = files.iter().map(|(path, bytes)| write_changed(world, folder.join(path), bytes));
    written.collect::<Result<_, _>>().map_err(|error| vec![*error])
}
