//! The project becomes a binary.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_link::{Project, Region, SizeReport, Sources, VerifyData, Workshop, build, c_header, uf2};
use etbuild_store::{Key, Value};
use etbuild_target::{Image, Target};

use super::select::{link_failure, read_interface};
use super::{emitted, selected};
use crate::db::Db;
use crate::environment::Tools;
use crate::interface::Interface;
use crate::stage::{self, Blocked, Products, Stage, StageResult, Staged};
use crate::unchanged;
use crate::unit::Unit;
use crate::{ArtifactKind, PRODUCER, failure, link_facts, verify_data, worker};

/// The unit's binary, the image where the target takes an image, and the sizes. A hosted binary depends on the program's kernels
/// and the names of inputs only; a board's binary also carries arenas, the program file and the verification data.
#[salsa::tracked(returns(clone))]
pub fn linked(db: &dyn Db, unit: Unit, tools: Tools) -> StageResult {
    let emitted = emitted(db, unit.archives.clone(), unit.plan.clone(), unit.file.clone())
        .map_err(|blocked: Blocked| blocked.downstream())?;
    let selected = selected(db, unit.clone(), tools.clone()).map_err(|blocked: Blocked| blocked.downstream())?;
    let interface = read_interface(db, &emitted)?;
    let key = key(db, &unit, &tools, &interface, &emitted, &selected)?;
    stage::run(db.world(), Stage::Link, key, |products| {
        let embedded = || {
            let program = emitted.blob(ArtifactKind::ProgramFile).map_err(|_| failure::internal("no program file"))?;
            let is_board = unit.target.memory().is_some();
            let verify = if is_board { verify_cases(db, &unit, &interface)? } else { VerifyData::default() };
            Ok((db.world().open_blob(&program).to_vec(), verify))
        };
        let facts = link_facts::project(&unit, &interface, db.world().engines(), embedded)?;
        let sources = Sources::embedded().map_err(link_failure)?;
        let project = Project::new(&facts, &sources).map_err(link_failure)?;
        let world = db.world();
        let workshop = Workshop { folder: &world.scratch(), offline: world.is_offline(), slots: world.slots() };
        let here = || build(world.system(), &tools.toolchain, &tools.target, &project, &workshop);
        let built = match worker::build(world, &tools, &project, &workshop) {
            Some(built) => products.made_elsewhere(built),
            None => here(),
        };
        let built = built.map_err(link_failure)?;
        put(products, &unit.target, &built.binary)?;
        if let Some(library) = &built.library {
            products.put(ArtifactKind::Library, library);
            products.put(ArtifactKind::Header, c_header());
        }
        products.put(ArtifactKind::Code, &failure::json(&built.code)?);
        Ok(())
    })
}

fn key(
    db: &dyn Db,
    unit: &Unit,
    tools: &Tools,
    interface: &Interface,
    emitted: &Staged,
    selected: &Staged,
) -> Result<Key, Blocked> {
    let target = &tools.target;
    let mut key = Stage::Link
        .key()
        .fact("kernels", interface.kernel_names(unit.target.memory().is_some()))
        .fact("engines", interface.engine_names(unit.target.memory().is_some()))
        .fact("method", interface.method().map(|method| method.name))
        .fact("inputs", interface.method().map(|method| method.inputs))
        .input("dependencies", selected.blob(ArtifactKind::Dependencies)?.digest)
        .option("producer", PRODUCER)
        .fact("template", link_facts::template(unit))
        .input("template", link_facts::template_digest(unit))
        .fact("text", interface.has_tokenizer())
        .option("library", unit.has_library())
        .fact("triple", target.triple.as_str())
        .fact("cpu", target.cpu.clone())
        .fact("features", target.features.clone())
        .fact("linker", format!("{:?}", target.linker))
        .fact("crt-static", target.crt_static)
        .fact("image", images(&unit.target))
        .tool("toolchain", tools.toolchain.identity());
    match unit.target.memory() {
        None => {
            key = key.option("name", unit.name());
            if unit.embeds_program() {
                key = key.input("program", emitted.blob(ArtifactKind::ProgramFile)?.digest);
            }
        }
        Some(memory) => {
            key = key
                .input("program", emitted.blob(ArtifactKind::ProgramFile)?.digest)
                .input("interface", emitted.blob(ArtifactKind::Interface)?.digest)
                .fact("memory", format!("{memory:?}"))
                .fact("console", format!("{:?}", unit.target.console()));
            if let Some(verify) = unit.verify {
                let digest = verify.digest(db).map_err(|error| super::verify::unreadable(db, verify, error))?;
                key = key.input("verify", digest);
            }
        }
    }
    Ok(key.finish())
}

fn images(target: &Target) -> Value {
    Value::List(target.image().iter().map(|image| Value::from(format!("{image:?}"))).collect())
}

fn verify_cases(db: &dyn Db, unit: &Unit, interface: &Interface) -> Result<VerifyData, Vec<Diagnostic>> {
    match (unit.verify, interface.method()) {
        (Some(file), Some(method)) => {
            let bytes = unchanged::read(db, file)?;
            let prefix = unit.recipe.verify.as_ref().map_or("output_", |verify| verify.outputs.as_str());
            verify_data::cases(&bytes, &method, prefix)
        }
        _ => Ok(VerifyData::default()),
    }
}

fn put(products: &mut Products<'_>, target: &Target, binary: &[u8]) -> Result<(), Vec<Diagnostic>> {
    products.put(ArtifactKind::Binary, binary);
    for image in target.image() {
        if let (Image::Uf2(format), Some(memory)) = (image, target.memory()) {
            let bank = &memory.code;
            let flash = Region { name: bank.name.to_string(), origin: bank.origin, size: bank.size.0 };
            let packed = uf2::write(binary, format.family, &flash).map_err(link_failure)?;
            products.put(ArtifactKind::Image, &packed);
        }
    }
    let sizes = SizeReport::of(binary).map_err(link_failure)?;
    let text = serde_json::to_vec_pretty(&sizes);
    let text = text.map_err(|error| vec![Diagnostic::error(Code::Internal, error.to_string())])?;
    products.put(ArtifactKind::Sizes, &text);
    Ok(())
}
