//! Targets and interfaces in the form of the link: the one translation between target files and generated projects.

use ::etbuild_target as target;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_link::{
    BootBlock, CompileTarget, Console, Counter, LinkError, MemoryFacts, Processor, Region, RegisterStep, Uart,
};
use target::Target;

/// The arguments of the compiler.
pub fn compile_target(rust: &target::Rust) -> CompileTarget {
    CompileTarget {
        triple: rust.triple.to_string(),
        cpu: rust.cpu.as_ref().map(ToString::to_string),
        features: rust.features.iter().map(ToString::to_string).collect(),
        linker: match &rust.linker {
            target::Linker::Default => etbuild_link::Linker::System,
            target::Linker::RustLld => etbuild_link::Linker::RustLld,
            target::Linker::Compiler(name) => etbuild_link::Linker::Compiler(name.to_string()),
            target::Linker::None => etbuild_link::Linker::None,
        },
        crt_static: rust.crt_static,
    }
}

/// A failure of the link as a diagnostic.
pub fn link_error(error: &LinkError) -> Diagnostic {
    error.into()
}

/// The memory of a board.
pub fn memory_facts(memory: &target::Memory) -> MemoryFacts {
    MemoryFacts {
        code: region(&memory.code),
        constants: region(&memory.constants),
        copy_program_to: memory.copy_program_to.as_ref().map(region),
        arena: region(&memory.arena),
        tensors: memory.tensors.iter().filter(|bank| bank.name != memory.arena.name).map(region).collect(),
        stack: memory.stack.0,
        boot_block: memory
            .boot_block
            .as_ref()
            .map(|block| BootBlock { words: block.words.clone(), within: block.within.0 }),
    }
}

/// A memory bank.
pub fn region(bank: &target::Bank) -> Region {
    Region { name: bank.name.to_string(), origin: bank.origin, size: bank.size.0 }
}

/// The processor of a board.
pub fn processor(target: &Target) -> Result<Processor, Vec<Diagnostic>> {
    Processor::of(target.rust().triple.as_str()).ok_or_else(|| {
        let message = format!("firmware supports Cortex-M and 32-bit RISC-V, and not `{}`", target.rust().triple);
        let help = "choose a triple that begins with `thumb` or `riscv32` in the target's `rust:`";
        vec![Diagnostic::error(Code::OptionUnavailable, message).help(help)]
    })
}

/// The console of a board.
pub fn console(console: &target::Console) -> Result<Console, Vec<Diagnostic>> {
    match console {
        target::Console::None => Ok(Console::None),
        target::Console::Semihosting => Ok(Console::Semihosting),
        target::Console::Uart(uart) => Ok(Console::Uart(Uart {
            setup: uart.setup.iter().map(|step| register_step(*step)).collect(),
            data: uart.data,
            status: uart.status,
            full: uart.full,
            ready: uart.ready,
        })),
        target::Console::Stdio => {
            let message = "a bare-metal target has no standard output";
            Err(vec![Diagnostic::error(Code::TargetInconsistent, message).help("use `semihosting`, `uart` or `none`")])
        }
    }
}

/// The cycle counter of a board.
pub fn counter(counter: &target::Counter) -> Counter {
    Counter { csr: counter.csr, setup: counter.setup.iter().map(|step| (step.csr, step.value)).collect() }
}

fn register_step(step: target::RegisterStep) -> RegisterStep {
    match step {
        target::RegisterStep::Write(to) => RegisterStep::Write { address: to.address, bits: to.value },
        target::RegisterStep::Set(to) => RegisterStep::Set { address: to.address, bits: to.bits },
        target::RegisterStep::Clear(to) => RegisterStep::Clear { address: to.address, bits: to.bits },
        target::RegisterStep::Wait(to) => RegisterStep::Wait { address: to.address, bits: to.bits },
    }
}
