//! A binary without a compiler: a prebuilt runtime, finished with the facts of the program.

use std::path::{Path, PathBuf};

use et_module::app::Appendix;
use etbuild_backend::TargetFacts;
use etbuild_diagnostic::{Diagnostic, unwritable};
use etbuild_link::{
    CodePart, CompileTarget, LinkError, PrebuiltRuntime, SizeReport, Workshop, all_features, build_telling,
    dependencies,
};
use etbuild_store::{BlobRef, Digest, KeyBuilder};
use etbuild_target::Target;

use super::crates::Crates;
use super::project::engine_facts;
use super::select::link_failure;
use super::{BinarySource, ProjectInputs, Tools, facts, tools};
use crate::action::{self, Action, ArtifactKind, Blocked, Keyed, Products, StageResult};
use crate::input::{Db, file_digest};
use crate::pipeline::Stage;
use crate::session::World;
use crate::{PRODUCER, failure};

/// A prebuilt runtime, found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Prebuilt {
    path: PathBuf,
    digest: Digest,
}

/// The runtime for all programs on a target.
///
/// # Errors
/// [`LinkError::Template`] for a backend whose device crate is not part of this etbuild.
pub fn runtime(world: &World, target: &CompileTarget, facts: &TargetFacts) -> Result<PrebuiltRuntime, LinkError> {
    let backends = world.engines().iter().filter(|backend| backend.executes_on(facts));
    let engines = backends.map(|backend| Ok(engine_facts(*backend, all_features(backend.device_crate())?)));
    let engines = engines.collect::<Result<_, LinkError>>()?;
    Ok(PrebuiltRuntime { target: target.clone(), stamp: PRODUCER.to_owned(), engines })
}

/// Compiles a runtime, and writes it into `folder`. Returns the file's path and size.
///
/// # Errors
/// What keeps the toolchain from compiling the runtime, and a folder that cannot be written.
pub fn compile(
    world: &World,
    target: &Target,
    target_facts: &TargetFacts,
    folder: &Path,
) -> Result<(PathBuf, usize), Vec<Diagnostic>> {
    let Tools { target: compile_target, toolchain } = tools(world, target).map_err(|missing| vec![*missing])?;
    let failed = |error: LinkError| vec![facts::link_error(&error)];
    let runtime = runtime(world, &compile_target, target_facts).map_err(failed)?;
    let project = runtime.project().map_err(failed)?;
    let workshop = Workshop { folder: &world.scratch(), offline: world.is_offline(), slots: world.slots() };
    let listed = dependencies(world.system(), &toolchain, &compile_target, &project, &workshop).map_err(failed)?;
    let mut crates = Crates::new(world, listed.len(), &project);
    let told = &mut |compiled| crates.tell(compiled);
    let built =
        build_telling(world.system(), &toolchain, &compile_target, &project, &workshop, told).map_err(failed)?;
    let binary = built.binary.ok_or_else(|| failure::internal("a runtime has a binary"))?;
    let path = folder.join(runtime.file_name(&project));
    let written = world.system().write(&path, &binary, true);
    written.map_err(|error| vec![unwritable(&path, &error)])?;
    Ok((path, binary.len()))
}

/// Whether there is a prebuilt runtime for a target.
pub fn is_offered(world: &World, target: &Target, target_facts: &TargetFacts) -> bool {
    let runtime = runtime(world, &facts::compile_target(target.rust()), target_facts);
    runtime.is_ok_and(|runtime| found(world, &runtime).is_ok_and(|prebuilt| prebuilt.is_some()))
}

/// The file of a runtime, with its digest; `None` where no folder has it.
fn found(world: &World, runtime: &PrebuiltRuntime) -> Result<Option<Prebuilt>, LinkError> {
    if world.runtimes().iter().all(|folder| !world.system().is_dir(folder)) {
        return Ok(None);
    }
    let name = runtime.file_name(&runtime.project()?);
    let candidates = world.runtimes().iter().map(|folder| folder.join(&name));
    Ok(candidates.filter_map(|path| Some(Prebuilt { digest: file_digest::of(world, &path).ok()?, path })).next())
}

/// The prebuilt runtime that a binary can be made of, or the reason why there is none.
pub fn find(db: &dyn Db, source: &BinarySource) -> Result<Prebuilt, String> {
    let (world, options) = (db.world(), &source.link);
    let target = facts::compile_target(options.target.rust());
    let made = |error: LinkError| error.to_string();
    let runtime = runtime(world, &target, &source.program.partition.target).map_err(made)?;
    // A dry run may not know the program yet, and the link says what is wrong with it.
    let emitted = source.emitted(db).ok();
    let project = emitted.and_then(|emitted| ProjectInputs::of(db, options, &target, &emitted, Stage::Link).ok());
    let facts = project.and_then(|project| project.without_data().ok());
    if let Some(reason) = facts.and_then(|facts| runtime.refusal(&facts)) {
        return Err(reason);
    }
    let none = || format!("this etbuild comes without a prebuilt runtime for {}", target.triple);
    found(world, &runtime).map_err(made)?.ok_or_else(none)
}

/// The binary of a unit, made of a prebuilt runtime.
pub fn finished(db: &dyn Db, source: &BinarySource, prebuilt: &Prebuilt) -> StageResult {
    let emitted = source.emitted(db).map_err(|blocked: Blocked| blocked.downstream())?;
    let target = facts::compile_target(source.link.target.rust());
    let project = ProjectInputs::of(db, &source.link, &target, &emitted, Stage::Link)?;
    project.without_data().map_err(|found| Blocked::failed(Stage::Link, found))?;
    let appendix = Appendix {
        command_line: source.link.command_line,
        name: project.name,
        method: project.method.name,
        inputs: project.method.inputs,
    };
    action::run(db, &Finish { prebuilt: prebuilt.clone(), appendix, program: project.program })
}

/// Finishing a runtime.
struct Finish {
    prebuilt: Prebuilt,
    appendix: Appendix,
    /// The program file, where it is inside the binary.
    program: Option<BlobRef>,
}

impl Keyed for Finish {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { prebuilt, appendix, program } = self;
        // The name of the file has the digest of what it is made from, besides the toolchain.
        let Prebuilt { path: _, digest } = prebuilt;
        let Appendix { command_line, name, method, inputs } = appendix;
        let key = program.iter().fold(key, |key, program| key.input("program", program.digest));
        key.tool("prebuilt runtime", digest.to_string())
            .fact("command line", command_line.name())
            .option("name", name.as_str())
            .fact("method", method.as_str())
            .fact("inputs", inputs.clone())
    }
}

impl Action for Finish {
    const STAGE: Stage = Stage::Link;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let Prebuilt { path, digest } = &self.prebuilt;
        let runtime = db.world().system().read(path).map_err(|error| failure::unreadable(path, &error))?;
        if Digest::of(&runtime) != *digest {
            return Err(failure::unreadable(path, &std::io::Error::other("the file changed while it was read")));
        }
        let program = self.program.map(|program| db.world().open_blob(&program));
        let binary = self.appendix.finish(&runtime, program.as_deref());
        let sizes = SizeReport::of(&binary).map_err(link_failure)?;
        let sizes = serde_json::to_vec_pretty(&sizes).map_err(|error| failure::internal(&error.to_string()))?;
        products.put(ArtifactKind::Binary, &binary);
        products.put(ArtifactKind::Sizes, &sizes);
        products.put(ArtifactKind::Code, &failure::json(&Vec::<CodePart>::new())?);
        Ok(())
    }
}
