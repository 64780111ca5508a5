//! The program's kernels become a project, and Cargo lists the dependencies of the project.

use etbuild_diagnostic::Diagnostic;
use etbuild_link::{LinkError, Project, Sources, Toolchain, Workshop, dependencies, device_crates_digest};
use etbuild_store::KeyBuilder;

use super::{BinarySource, ProjectInputs, Tools, facts};
use crate::action::{self, Action, ArtifactKind, Blocked, Keyed, Products, StageResult};
use crate::input::Db;
use crate::pipeline::Stage;
use crate::session::{Transient, interrupt};

/// The device crates that the unit's binary is made from, with the digests of their sources: a change in any other crate
/// leaves the binary alone. Fails where the catalogue lacks a kernel that the program calls.
#[salsa::tracked(returns(clone))]
pub fn selected(db: &dyn Db, source: BinarySource, tools: Tools) -> StageResult {
    let emitted = source.emitted(db).map_err(|blocked: Blocked| blocked.downstream())?;
    let project = ProjectInputs::of(db, &source.link, &tools.target, &emitted, Stage::Select)?;
    action::run(db, &Select { project, tools })
}

/// Selecting the device crates.
struct Select {
    project: ProjectInputs,
    tools: Tools,
}

impl Keyed for Select {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { project, tools } = self;
        let ProjectInputs {
            manifest,
            name: _,    // The manifest calls every binary alike.
            method: _,  // The sources of the binary name the method.
            program: _, // The sources of the binary include the program file.
            board: _,   // The sources and the linker script have the facts of the board.
            system: _,  // Start code and stub libraries are no crates.
            web: _,     // A package for JavaScript is no crate.
        } = project;
        let Tools { target, toolchain } = tools;
        // Cargo resolves dependencies by the triple, and the toolchain's version is Cargo's.
        let Toolchain { route: _, sysroot: _, rustc_version, linker_version: _ } = toolchain;
        manifest
            .key(key)
            .fact("device-crates", device_crates_digest())
            .fact("triple", target.triple.as_str())
            .tool("cargo", rustc_version.as_str())
    }
}

impl Action for Select {
    const STAGE: Stage = Stage::Select;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let (world, Tools { target, toolchain }) = (db.world(), &self.tools);
        let sources = Sources::embedded().map_err(link_failure)?;
        let project = Project::new(&self.project.without_data()?, &sources).map_err(link_failure)?;
        let workshop = Workshop { folder: &world.scratch(), offline: world.is_offline(), slots: world.slots() };
        let found = dependencies(world.system(), toolchain, target, &project, &workshop).map_err(link_failure)?;
        let lines = found.iter().map(|found| format!("{} {} {}\n", found.package, found.version, found.digest));
        products.put(ArtifactKind::Dependencies, lines.collect::<String>().as_bytes());
        Ok(())
    }
}

/// A failure of the link: the project's fault is a value, the machine's interrupts.
pub fn link_failure(error: LinkError) -> Vec<Diagnostic> {
    let diagnostic = facts::link_error(&error);
    if error.is_transient() {
        interrupt(Transient::Environment(Box::new(diagnostic)));
    }
    vec![diagnostic]
}
