//! Targets and interfaces in the form of the link: the one translation between target files and generated projects.

use et_ops::OPERATORS;
use etbuild_backend::Backend;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_link::{
    BoardFacts, BootBlock, CompileTarget, Console, EngineFacts, LinkError, MemoryFacts, Program, ProjectFacts, Region,
    RegisterStep, Uart, VerifyData, select,
};
use etbuild_store::Digest;
use etbuild_target as target;
use target::Target;

use crate::PRODUCER;
use crate::interface::{Interface, InterfaceEngine};
use crate::unit::Unit;

/// The arguments of the compiler.
pub fn compile_target(target: &Target) -> CompileTarget {
    let rust = target.rust();
    CompileTarget {
        triple: rust.triple.to_string(),
        cpu: rust.cpu.as_ref().map(ToString::to_string),
        features: rust.features.iter().map(ToString::to_string).collect(),
        linker: match rust.linker {
            target::Linker::Default => etbuild_link::Linker::System,
            target::Linker::RustLld => etbuild_link::Linker::RustLld,
        },
        crt_static: rust.crt_static,
    }
}

/// The facts of the generated project. `embedded` are the program file and the verification data, for a
/// binary with the program file inside; only a board carries verification data.
pub fn project(
    unit: &Unit,
    interface: &Interface,
    backends: &[&dyn Backend],
    embedded: impl FnOnce() -> Result<(Vec<u8>, VerifyData), Vec<Diagnostic>>,
) -> Result<ProjectFacts, Vec<Diagnostic>> {
    let kernels = select(&interface.kernel_uses(unit.target.memory().is_some()), OPERATORS)
        .map_err(|error| vec![link_error(&error)])?;
    let engines = engines(unit, interface, backends)?;
    let method = interface.method().ok_or_else(|| vec![internal("the program file has no method")])?;
    let (program, verify) = if unit.embeds_program() {
        let (program, verify) = embedded()?;
        (Program::Embedded(program), verify)
    } else {
        (Program::Beside(format!("{}.pte", unit.name())), VerifyData::default())
    };
    let board = match unit.target.memory() {
        None => None,
        Some(memory) => {
            let console = console(unit.target.console())?;
            Some(BoardFacts { memory: memory_facts(memory), console, verify })
        }
    };
    let (template, name) = (template(unit).to_owned(), unit.name().to_owned());
    let (stamp, text, library) = (PRODUCER.to_owned(), interface.has_tokenizer(), unit.has_library());
    Ok(ProjectFacts { template, name, stamp, kernels, engines, method, program, text, library, board })
}

/// The backends of the binary. Firmware has no backend yet.
fn engines(unit: &Unit, interface: &Interface, backends: &[&dyn Backend]) -> Result<Vec<EngineFacts>, Vec<Diagnostic>> {
    let is_board = unit.target.memory().is_some();
    let called = interface.engines(is_board);
    if is_board && !called.is_empty() {
        let ids: Vec<&str> = called.iter().map(|engine| engine.id.as_str()).collect();
        let message = format!("firmware does not support backends, and the program calls {}", ids.join(", "));
        let diagnostic = Diagnostic::error(Code::EngineUnavailable, message);
        return Err(vec![diagnostic.help("leave `partition` out for this target")]);
    }
    let engine = |InterfaceEngine { id, features }: &InterfaceEngine| {
        let backend = backends.iter().find(|backend| backend.delegate_id() == id);
        let package = backend.map(|backend| backend.device_crate().to_owned());
        package
            .map(|package| EngineFacts { id: id.clone(), package, features: features.clone() })
            .ok_or_else(|| vec![internal("a backend is missing")])
    };
    called.iter().map(engine).collect()
}

/// The template of processes that run language models.
const LANGUAGE: &str = "language-app";

/// The folder below `templates/` that the unit's project is made from.
pub fn template(unit: &Unit) -> &str {
    let is_language_model = unit.file.texts.is_some() && unit.target.memory().is_none();
    if is_language_model { LANGUAGE } else { unit.target.template() }
}

/// The digest of the template's files; of no files for a missing template, which the link reports.
pub fn template_digest(unit: &Unit) -> Digest {
    Digest::of(etbuild_link::template_digest(template(unit)).unwrap_or_default().as_bytes())
}

/// A failure of the link as a diagnostic.
pub fn link_error(error: &LinkError) -> Diagnostic {
    error.into()
}

fn memory_facts(memory: &target::Memory) -> MemoryFacts {
    MemoryFacts {
        code: region(&memory.code),
        constants: region(&memory.constants),
        arena: region(&memory.arena),
        stack: memory.stack.0,
        boot_block: memory
            .boot_block
            .as_ref()
            .map(|block| BootBlock { words: block.words.clone(), within: block.within.0 }),
    }
}

fn region(bank: &target::Bank) -> Region {
    Region { name: bank.name.to_string(), origin: bank.origin, size: bank.size.0 }
}

fn console(console: &target::Console) -> Result<Console, Vec<Diagnostic>> {
    match console {
        target::Console::Semihosting => Ok(Console::Semihosting),
        target::Console::Uart(uart) => Ok(Console::Uart(Uart {
            setup: uart.setup.iter().map(|step| register_step(*step)).collect(),
            data: uart.data,
            status: uart.status,
            full: uart.full,
        })),
        target::Console::Stdio => {
            let message = "a bare-metal target has no standard output";
            Err(vec![Diagnostic::error(Code::TargetInconsistent, message).help("use `semihosting` or `uart`")])
        }
    }
}

fn register_step(step: target::RegisterStep) -> RegisterStep {
    match step {
        target::RegisterStep::Write(to) => RegisterStep::Write { address: to.address, bits: to.value },
        target::RegisterStep::Set(to) => RegisterStep::Set { address: to.address, bits: to.bits },
        target::RegisterStep::Clear(to) => RegisterStep::Clear { address: to.address, bits: to.bits },
        target::RegisterStep::Wait(to) => RegisterStep::Wait { address: to.address, bits: to.bits },
    }
}

fn internal(message: &str) -> Diagnostic {
    Diagnostic::error(Code::Internal, message)
}
