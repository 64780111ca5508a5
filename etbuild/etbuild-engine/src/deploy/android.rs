//! The archive for Android of a recipe: the libraries of all processors that the command built for.

use std::collections::BTreeMap;
use std::path::Path;

use etbuild_diagnostic::{Diagnostic, unwritable};
use etbuild_link::{LibraryForm, android_archive};
use etbuild_store::Digest;

use super::{OutputFile, UnitReport};
use crate::failure;
use crate::link;
use crate::session::World;
use crate::unit::Unit;

/// Writes the archive of each recipe with libraries of several processors to the folder of the recipe, and notes the file in the report of the
/// recipe's first unit for Android. Of several targets with one processor, the archive has the library of the first.
pub fn join(world: &World, units: &[Unit], reports: &mut [UnitReport], out: &Path) {
    let mut recipes: BTreeMap<&str, Processors> = BTreeMap::new();
    for (index, unit) in units.iter().enumerate().filter(|(index, _)| is_archived(&reports[*index])) {
        if let Some(abi) = link::compile_target(unit.target.rust()).android_abi() {
            recipes.entry(unit.name()).or_default().entry(abi).or_insert(index);
        }
    }
    for (name, processors) in recipes.into_iter().filter(|(_, processors)| processors.len() > 1) {
        let first = processors.values().copied().min().unwrap_or_default();
        match archive(world, units, name, &processors, out) {
            Ok(file) => reports[first].files.push(file),
            Err(found) => reports[first].diagnostics.extend(found),
        }
    }
}

/// The index of a unit for each processor, by the name that Android has for the processor.
type Processors = BTreeMap<&'static str, usize>;

/// Whether the unit wrote an archive of its own, and so a library.
fn is_archived(report: &UnitReport) -> bool {
    report.files.iter().any(|file| file.path.extension().is_some_and(|ending| ending == "aar"))
}

fn archive(
    world: &World,
    units: &[Unit],
    name: &str,
    processors: &Processors,
    out: &Path,
) -> Result<OutputFile, Vec<Diagnostic>> {
    let library = LibraryForm::StaticAndShared.loaded_name(name).unwrap_or_default();
    let mut libraries = BTreeMap::new();
    for (abi, index) in processors {
        let path = out.join(units[*index].folder()).join(&library);
        let bytes = world.system().read(&path).map_err(|error| failure::internal(&error.to_string()))?;
        libraries.insert(*abi, bytes);
    }
    let libraries = libraries.iter().map(|(abi, bytes)| (*abi, bytes.as_slice())).collect();
    let bytes = android_archive(name, &libraries).map_err(|error| failure::internal(&error.to_string()))?;
    let path = out.join(name).join(format!("{name}.aar"));
    let written = world.system().write(&path, &bytes, false);
    written.map_err(|error| vec![unwritable(&path, &error)])?;
    Ok(OutputFile { path, size: bytes.len() as u64, digest: Digest::of(&bytes).to_string() })
}
