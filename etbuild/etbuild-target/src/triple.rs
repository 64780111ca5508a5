//! A Rust triple as facts about a machine.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_yaml::{Name, quote, suggest};

use crate::{Endian, Kind};

/// What the first word of a triple says.
struct Architecture {
    /// The start of the word.
    prefix: &'static str,
    pointer_width: u32,
    /// The instruction sets that a machine with an operating system may have, for `instruction_sets`.
    instruction_sets: &'static [&'static str],
}

/// The architectures, longer prefixes ahead of shorter ones.
const ARCHITECTURES: &[Architecture] = &[
    Architecture { prefix: "x86_64", pointer_width: 64, instruction_sets: &["avx2", "avx512", "avx512vnni", "amx"] },
    Architecture { prefix: "aarch64", pointer_width: 64, instruction_sets: &["neon", "dotprod", "i8mm"] },
    Architecture { prefix: "arm64", pointer_width: 64, instruction_sets: &["neon", "dotprod", "i8mm"] },
    Architecture { prefix: "riscv64", pointer_width: 64, instruction_sets: &[] },
    Architecture { prefix: "riscv32", pointer_width: 32, instruction_sets: &[] },
    Architecture { prefix: "thumb", pointer_width: 32, instruction_sets: &[] },
    Architecture { prefix: "arm", pointer_width: 32, instruction_sets: &[] },
    Architecture { prefix: "wasm32", pointer_width: 32, instruction_sets: &["simd128"] },
    Architecture { prefix: "i686", pointer_width: 32, instruction_sets: &[] },
];

/// The triples that a suggestion may name.
const KNOWN: &[&str] = &[
    "aarch64-apple-darwin",
    "aarch64-linux-android",
    "aarch64-unknown-linux-gnu",
    "aarch64-unknown-linux-musl",
    "armv7-unknown-linux-gnueabihf",
    "armv7-unknown-linux-musleabihf",
    "riscv32imac-unknown-none-elf",
    "riscv32imafc-unknown-none-elf",
    "riscv32imc-unknown-none-elf",
    "riscv64gc-unknown-linux-gnu",
    "thumbv6m-none-eabi",
    "thumbv7em-none-eabi",
    "thumbv7em-none-eabihf",
    "thumbv7m-none-eabi",
    "thumbv8m.base-none-eabi",
    "thumbv8m.main-none-eabi",
    "thumbv8m.main-none-eabihf",
    "wasm32-wasip1",
    "wasm32-wasip1-threads",
    "x86_64-linux-android",
    "x86_64-pc-windows-gnullvm",
    "x86_64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
];

/// A Rust triple with the facts that follow from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triple {
    /// The triple as `rustup target list` writes it.
    pub name: Name,
    /// Whether the machine has an operating system.
    pub kind: Kind,
    /// Bits of an address.
    pub pointer_width: u32,
    /// The order of the bytes of a number.
    pub endian: Endian,
    /// The instruction sets that a backend may choose among at run time.
    pub instruction_sets: &'static [&'static str],
}

impl Triple {
    /// The facts of a triple.
    ///
    /// # Errors
    /// `ETB0801` for a word that is no triple, or a triple of an architecture that etbuild has no kernels for.
    pub fn new(text: &str) -> Result<Self, Diagnostic> {
        let mut words = text.split('-');
        let first = words.next().unwrap_or_default();
        let architecture = ARCHITECTURES.iter().find(|architecture| first.starts_with(architecture.prefix));
        let name = Name::new(text).filter(|_| words.clone().next().is_some());
        let (Some(architecture), Some(name)) = (architecture, name) else { return Err(unknown(text)) };
        let kind = if words.any(|word| word == "none") { Kind::BareMetal } else { Kind::Hosted };
        let is_big = first.ends_with("eb") || first.ends_with("_be");
        Ok(Self {
            name,
            kind,
            pointer_width: architecture.pointer_width,
            endian: if is_big { Endian::Big } else { Endian::Little },
            instruction_sets: if kind == Kind::Hosted { architecture.instruction_sets } else { &[] },
        })
    }

    /// Whether one of the words behind the architecture contains this text.
    pub(crate) fn mentions(&self, text: &str) -> bool {
        self.name.as_str().split('-').skip(1).any(|word| word.contains(text))
    }

    /// Whether the processor is an Arm microcontroller.
    pub(crate) fn is_cortex_m(&self) -> bool {
        self.name.as_str().starts_with("thumb")
    }
}

fn unknown(text: &str) -> Diagnostic {
    let message = format!("{} is no Rust triple that etbuild builds for", quote(text));
    let help = match suggest(text, KNOWN.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("choose one of {}", KNOWN.join(", ")),
    };
    Diagnostic::error(Code::Usage, message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triple_tells_the_machine() {
        let facts =
            |text: &str| Triple::new(text).map(|triple| (triple.kind, triple.pointer_width, triple.endian)).unwrap();
        assert_eq!(facts("thumbv6m-none-eabi"), (Kind::BareMetal, 32, Endian::Little));
        assert_eq!(facts("riscv32imc-unknown-none-elf"), (Kind::BareMetal, 32, Endian::Little));
        assert_eq!(facts("aarch64-linux-android"), (Kind::Hosted, 64, Endian::Little));
        assert_eq!(facts("armeb-unknown-linux-gnueabi"), (Kind::Hosted, 32, Endian::Big));
        assert_eq!(Triple::new("riscv32imc-unknown-none-elf").unwrap().instruction_sets, [""; 0]);
    }

    #[test]
    fn every_known_triple_has_facts_and_a_slip_is_told() {
        assert!(KNOWN.iter().all(|name| Triple::new(name).is_ok()));
        let help = |text: &str| Triple::new(text).unwrap_err().help.unwrap();
        assert_eq!(help("thumv7em-none-eabihf"), "did you mean `thumbv7em-none-eabihf`?");
        assert!(help("xtensa-esp32s3-none-elf").starts_with("choose one of"));
        assert!(help("aarch64").starts_with("did you mean `aarch64-"));
    }
}
