//! The dependencies of a project, as cargo resolves them for a target: a part of the action key.

use cargo_metadata::{Metadata, MetadataCommand, Package};
use etbuild_system::{Invocation, System};

use crate::scratch::Scratch;
use crate::third_party::{self, Digests};
use crate::workshop::{Workshop, removed_variables};
use crate::{CompileTarget, LinkError, Project, Toolchain};

/// A package that a project is built from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependency {
    /// The package's name.
    pub package: String,
    /// The version.
    pub version: String,
    /// The digest of the sources.
    pub digest: String,
}

/// The device and third-party crates that cargo would compile for `target`, sorted by name. A [`Project::skeleton`] is enough.
///
/// # Errors
/// [`LinkError::ToolMissing`] if cargo cannot be started; [`LinkError::Template`] if cargo refuses the project.
pub fn dependencies(
    system: &dyn System,
    toolchain: &Toolchain,
    target: &CompileTarget,
    project: &Project,
    workshop: &Workshop<'_>,
) -> Result<Vec<Dependency>, LinkError> {
    let folder = Scratch::open(workshop.folder, "metadata")?;
    folder.write(system, project)?;
    third_party::fetch(system, toolchain, target, project, &folder, workshop.offline)?;
    let mut invocation = Invocation::new(toolchain.cargo())
        .args(["metadata", "--format-version=1", "--offline", "--filter-platform", &target.triple])
        .current_dir(folder.project())
        .env("RUSTC", toolchain.rustc())
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "");
    if !project.third_party {
        invocation = invocation.env("CARGO_HOME", folder.cargo_home());
    }
    invocation.removed_variables = removed_variables();
    // Cargo asks the compiler about the target with these flags.
    invocation.removed_variables.push("CARGO_ENCODED_RUSTFLAGS".into());
    let missing =
        |error: std::io::Error| LinkError::ToolMissing { program: "cargo".to_owned(), reason: error.to_string() };
    let slot = workshop.slots.take();
    let outcome = system.run(&invocation).map_err(missing)?;
    drop(slot);
    if !outcome.success() {
        return Err(LinkError::Template(String::from_utf8_lossy(&outcome.stderr).trim().to_owned()));
    }
    let metadata = MetadataCommand::parse(String::from_utf8_lossy(&outcome.stdout));
    let metadata = metadata.map_err(|error| LinkError::Template(error.to_string()))?;
    resolved(&metadata, project, &third_party::digests(system, project, &folder)?)
}

/// The resolved packages that are device or third-party crates; the rest of the project is in the key as the facts that it is
/// made from.
fn resolved(metadata: &Metadata, project: &Project, others: &Digests) -> Result<Vec<Dependency>, LinkError> {
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let packages = nodes.filter_map(|node| metadata.packages.iter().find(|package| package.id == node.id));
    let mut found: Vec<Dependency> = packages.filter_map(|package| dependency(package, project, others)).collect();
    found.sort();
    Ok(found)
}

fn dependency(package: &Package, project: &Project, others: &Digests) -> Option<Dependency> {
    let ours = project.dependencies.iter().find(|(name, _)| package.name == *name).map(|(_, digest)| digest);
    let digest = ours.or_else(|| others.get(&(package.name.to_string(), package.version.to_string())))?;
    Some(Dependency { package: package.name.to_string(), version: package.version.to_string(), digest: digest.clone() })
}
