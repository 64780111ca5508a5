//! The package for Swift of a recipe: the libraries of all platforms of Apple that the command built for.

use std::path::Path;

use etbuild_diagnostic::Diagnostic;
use etbuild_link::{AppleNeeds, ApplePlatform, LibraryForm, swift_folders, swift_package};
use etbuild_target::{GpuInterface, Target};

use super::joined::{Group, join};
use super::package::{keep_only, write_changed};
use super::{OutputFile, UnitReport};
use crate::failure;
use crate::input::Db;
use crate::link::{self, read_interface};
use crate::unit::Unit;

/// Writes the package of each recipe with libraries for Apple to the folder of the recipe.
pub fn join_platforms(db: &dyn Db, units: &[Unit], reports: &mut [UnitReport], out: &Path) {
    let platform = |unit: &Unit, report: &UnitReport| {
        let library = out.join(unit.folder()).join(LibraryForm::Static.linked_name(unit.name()));
        let is_written = report.files.iter().any(|file| file.path == library);
        ApplePlatform::of(&link::compile_target(unit.target.rust())).filter(|_| is_written)
    };
    join(units, reports, platform, |name, libraries| package(db, name, libraries, out));
}

fn package(
    db: &dyn Db,
    name: &str,
    libraries: &Group<'_, ApplePlatform>,
    out: &Path,
) -> Result<Vec<OutputFile>, Vec<Diagnostic>> {
    let (world, needs) = (db.world(), needs(db, libraries));
    let libraries = libraries.libraries(world, out, &LibraryForm::Static.linked_name(name))?;
    let libraries = libraries.iter().map(|(platform, bytes)| (*platform, bytes.as_slice())).collect();
    let files = swift_package(name, &needs, &libraries).map_err(|error| failure::internal(&error.to_string()))?;
    let folder = out.join(name).join("swift");
    let written = files.iter().map(|(path, bytes)| write_changed(world, folder.join(path), bytes));
    let written: Vec<_> = written.collect::<Result<_, _>>().map_err(|error| vec![*error])?;
    // Xcode keeps files of its own beside these folders, and takes what is in them for parts of the package.
    let paths = written.iter().map(|file| file.path.clone()).collect();
    let cleaned = swift_folders(name).iter().try_for_each(|owned| keep_only(world, &folder.join(owned), &paths));
    cleaned.map_err(|error| vec![*error])?;
    Ok(written)
}

/// What the libraries need of Apple's systems: the frameworks of the backends that the programs call, and the systems with the language of
/// kernels for Metal.
fn needs(db: &dyn Db, libraries: &Group<'_, ApplePlatform>) -> AppleNeeds {
    let mut needs = AppleNeeds::default();
    for unit in libraries.units() {
        // A unit with a library has a program.
        let Ok(interface) = unit.emitted(db).and_then(|emitted| read_interface(db, &emitted)) else { continue };
        let backends = interface.backends(db.world().engines());
        let frameworks: Vec<_> = backends.flat_map(|backend| backend.frameworks()).copied().collect();
        if !frameworks.is_empty() {
            needs.systems = needs.systems.max(language(&unit.target));
        }
        needs.frameworks.extend(frameworks);
    }
    needs
}

/// The first versions of iOS and macOS with the newest language of a target's kernels for Metal.
fn language(target: &Target) -> Option<[&'static str; 2]> {
    let versions = target.gpus().iter().filter_map(|gpu| match gpu.api {
        GpuInterface::Metal(version) => Some(version),
        GpuInterface::Vulkan | GpuInterface::Webgpu => None,
    });
    versions.max().map(etbuild_target::MslVersion::systems)
}
