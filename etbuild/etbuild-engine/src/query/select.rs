//! The program's kernels become a project, and Cargo lists the dependencies of the project.

use etbuild_link::{Project, Sources, VerifyData, Workshop, dependencies, device_crates_digest};

use super::emitted;
use crate::db::Db;
use crate::environment::Tools;
use crate::interface::Interface;
use crate::stage::{self, Blocked, Stage, StageResult, Staged, Transient, interrupt};
use crate::unit::Unit;
use crate::{ArtifactKind, link_facts};

/// The device crates that the unit's binary is made from, with the digests of their sources: a change in any other crate
/// leaves the binary alone. Fails where the catalogue lacks a kernel that the program calls.
#[salsa::tracked(returns(clone))]
pub fn selected(db: &dyn Db, unit: Unit, tools: Tools) -> StageResult {
    let emitted = emitted(db, unit.archives.clone(), unit.plan.clone(), unit.file.clone())
        .map_err(|blocked: Blocked| blocked.downstream())?;
    let interface = read_interface(db, &emitted)?;
    let key = Stage::Select
        .key()
        .fact("kernels", interface.kernel_names(unit.target.memory().is_some()))
        .fact("engines", interface.engine_names(unit.target.memory().is_some()))
        .fact("template", link_facts::template(&unit))
        .input("template", link_facts::template_digest(&unit))
        .fact("device-crates", device_crates_digest())
        .fact("text", interface.has_tokenizer())
        .option("library", unit.has_library())
        .fact("triple", tools.target.triple.as_str())
        .tool("cargo", tools.toolchain.rustc_version.as_str())
        .finish();
    stage::run(db.world(), Stage::Select, key, |products| {
        let facts =
            link_facts::project(&unit, &interface, db.world().engines(), || Ok((Vec::new(), VerifyData::default())))?;
        let world = db.world();
        let sources = Sources::embedded().map_err(link_failure)?;
        let project = Project::new(&facts, &sources).map_err(link_failure)?;
        let workshop = Workshop { folder: &world.scratch(), offline: world.is_offline(), slots: world.slots() };
        let found = dependencies(world.system(), &tools.toolchain, &tools.target, &project, &workshop);
        let found = found.map_err(link_failure)?;
        let lines = found.iter().map(|found| format!("{} {} {}\n", found.package, found.version, found.digest));
        products.put(ArtifactKind::Dependencies, lines.collect::<String>().as_bytes());
        Ok(())
    })
}

/// The interface of a program file.
pub fn read_interface(db: &dyn Db, emitted: &Staged) -> Result<Interface, Blocked> {
    let bytes = db.world().open_blob(&emitted.blob(ArtifactKind::Interface)?);
    serde_json::from_slice(&bytes).map_err(|error| Blocked::internal(Stage::Emit, &error.to_string()))
}

/// A failure of the link: the project's fault is a value, the machine's interrupts.
pub fn link_failure(error: etbuild_link::LinkError) -> Vec<etbuild_diagnostic::Diagnostic> {
    let diagnostic = link_facts::link_error(&error);
    if error.is_transient() {
        interrupt(Transient::Environment(Box::new(diagnostic)));
    }
    vec![diagnostic]
}
