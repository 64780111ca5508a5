//! The package for Swift of a recipe: the libraries of all platforms of Apple that the command built for.

use std::collections::BTreeMap;
use std::path::Path;

use et_module::app::CommandLine;
use etbuild_diagnostic::{Diagnostic, unwritable};
use etbuild_link::{ApplePlatform, LibraryForm, SwiftApi, swift_package};
use etbuild_store::Digest;

use super::{OutputFile, UnitReport};
use crate::failure;
use crate::link;
use crate::session::World;
use crate::unit::Unit;

/// Writes the package of each recipe with libraries for Apple to the folder of the recipe, and notes the files in the report of the recipe's
/// first unit for Apple. Of several targets with one platform, the package has the library of the first.
pub fn join(world: &World, units: &[Unit], reports: &mut [UnitReport], out: &Path) {
    let mut recipes: BTreeMap<&str, Platforms> = BTreeMap::new();
    for (index, unit) in units.iter().enumerate() {
        let library = out.join(unit.folder()).join(LibraryForm::Static.linked_name(unit.name()));
        let is_written = reports[index].files.iter().any(|file| file.path == library);
        if let Some(platform) = ApplePlatform::of(&link::compile_target(unit.target.rust())).filter(|_| is_written) {
            recipes.entry(unit.name()).or_default().entry(platform).or_insert(index);
        }
    }
    for (name, platforms) in recipes {
        let first = platforms.values().copied().min().unwrap_or_default();
        match package(world, units, name, &platforms, out) {
            Ok(files) => reports[first].files.extend(files),
            Err(found) => reports[first].diagnostics.extend(found),
        }
    }
}

/// The index of a unit for each platform.
type Platforms = BTreeMap<ApplePlatform, usize>;

fn package(
    world: &World,
    units: &[Unit],
    name: &str,
    platforms: &Platforms,
    out: &Path,
) -> Result<Vec<OutputFile>, Vec<Diagnostic>> {
    let mut libraries = BTreeMap::new();
    let mut api = SwiftApi::Program;
    for (platform, index) in platforms {
        let unit = &units[*index];
        if unit.link.command_line == CommandLine::Language {
            api = SwiftApi::Language;
        }
        let path = out.join(unit.folder()).join(LibraryForm::Static.linked_name(name));
        let bytes = world.system().read(&path).map_err(|error| failure::internal(&error.to_string()))?;
        libraries.insert(*platform, bytes);
    }
    let libraries = libraries.iter().map(|(platform, bytes)| (*platform, bytes.as_slice())).collect();
    let files = swift_package(name, api, &libraries).map_err(|error| failure::internal(&error.to_string()))?;
    let folder = out.join(name).join("swift");
    let written = files.iter().map(|(path, bytes)| write(world, &folder.join(path), bytes));
    written.collect()
}

fn write(world: &World, path: &Path, bytes: &[u8]) -> Result<OutputFile, Vec<Diagnostic>> {
    world.system().write(path, bytes, false).map_err(|error| vec![unwritable(path, &error)])?;
    Ok(OutputFile { path: path.to_owned(), size: bytes.len() as u64, digest: Digest::of(bytes).to_string() })
}
