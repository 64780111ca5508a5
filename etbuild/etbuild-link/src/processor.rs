//! Processors that a target names by mistake: a sentence in the place of the compiler's messages about each instruction.

use etbuild_system::{Invocation, System};

use crate::{CompileTarget, LinkError, Toolchain};

/// The Cortex-M processors that lack instructions of a triple for larger ones, by the instructions that they have.
const LEVELS: [(&str, u8); 7] = [
    ("cortex-m0", 0),
    ("cortex-m0plus", 0),
    ("cortex-m1", 0),
    ("cortex-m23", 0),
    ("cortex-m3", 1),
    ("cortex-m4", 2),
    ("cortex-m7", 2),
];

/// The instructions that the triples of Cortex-M require.
const REQUIRED: [(&str, u8); 3] = [("thumbv7m-", 1), ("thumbv7em-", 2), ("thumbv8m.main-", 3)];

/// The mistake in the target's processor after a failed compilation; `None` where the processor is right.
pub fn mistake(system: &dyn System, toolchain: &Toolchain, target: &CompileTarget) -> Option<LinkError> {
    let cpu = target.cpu.as_deref()?;
    let sentence = if lacks_instructions(cpu, &target.triple) {
        format!("`{cpu}` lacks instructions of `{}`", target.triple)
    } else if is_unknown(system, toolchain, target, cpu) {
        format!("the compiler knows no processor `{cpu}` of `{}`", target.triple)
    } else {
        return None;
    };
    Some(LinkError::Processor { sentence, triple: target.triple.clone() })
}

fn lacks_instructions(cpu: &str, triple: &str) -> bool {
    let level = LEVELS.iter().find(|(name, _)| *name == cpu).map(|(_, level)| *level);
    let required = REQUIRED.iter().find(|(start, _)| triple.starts_with(start)).map(|(_, level)| *level);
    level.zip(required).is_some_and(|(level, required)| level < required)
}

/// Whether the compiler's list of processors lacks the processor.
fn is_unknown(system: &dyn System, toolchain: &Toolchain, target: &CompileTarget, cpu: &str) -> bool {
    let invocation =
        Invocation::new(toolchain.rustc()).args(["--print", "target-cpus", "--target", target.triple.as_str()]);
    let Ok(outcome) = system.run(&invocation) else { return false };
    let list = String::from_utf8_lossy(&outcome.stdout);
    let is_known = list.lines().any(|line| line.split_whitespace().next() == Some(cpu));
    outcome.success() && !is_known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_processor_has_few_of_the_instructions() {
        assert!(lacks_instructions("cortex-m0", "thumbv7em-none-eabihf"));
        assert!(lacks_instructions("cortex-m4", "thumbv8m.main-none-eabi"));
        assert!(!lacks_instructions("cortex-m33", "thumbv7em-none-eabihf"));
        assert!(!lacks_instructions("cortex-m7", "thumbv7em-none-eabi"));
        assert!(!lacks_instructions("cortex-m23", "thumbv8m.base-none-eabi"));
    }
}
