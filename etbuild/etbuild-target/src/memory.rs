//! The memory of a bare-metal target: named banks and their contents.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_yaml::{ByteSize, Name, Spanned, suggest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The memory of a target. Every bank name refers to a bank of `banks`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Memory {
    /// All banks, in the order of the file.
    pub banks: Vec<Bank>,
    /// The bank of the program's instructions.
    pub code: Bank,
    /// The bank of read-only data: the program file and the weights.
    pub constants: Bank,
    /// The bank that the program file and the weights are copied to at start; `None` where they are read in place.
    pub copy_program_to: Option<Bank>,
    /// The bank of static data, the stack and, where [`Self::tensors`] has no other, planned tensors.
    pub arena: Bank,
    /// The banks of planned tensors, the fastest first.
    pub tensors: Vec<Bank>,
    /// Bytes kept for the stack.
    pub stack: ByteSize,
    /// The block that a boot ROM searches.
    pub boot_block: Option<BootBlock>,
}

/// A range of addresses.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bank {
    /// The name of the bank in messages and in the linker script.
    pub name: Name,
    /// The first address.
    pub origin: u64,
    /// The size.
    pub size: ByteSize,
    /// The permitted access.
    pub access: Access,
}

/// The permitted access of a program to a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Read.
    R,
    /// Read and execute.
    Rx,
    /// Read and write.
    Rw,
    /// Read, write and execute.
    Rwx,
}

impl Access {
    /// Whether instructions may lie there.
    pub fn executes(self) -> bool {
        matches!(self, Self::Rx | Self::Rwx)
    }

    /// Whether a program can write to the bank.
    pub fn writes(self) -> bool {
        matches!(self, Self::Rw | Self::Rwx)
    }
}

/// Words that a boot ROM looks for near the start of the code bank.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BootBlock {
    /// The words, in the target's byte order.
    pub words: Vec<u32>,
    /// The greatest distance of the block from the start of the code bank.
    pub within: ByteSize,
}

/// The `memory:` key of a target file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Memory")]
pub struct MemoryFile {
    /// All banks.
    pub banks: Vec<Bank>,
    /// The name of the bank of the program's instructions.
    pub code: Spanned<String>,
    /// The name of the bank of read-only data: the program file and the weights.
    pub constants: Spanned<String>,
    /// The name of the bank that the program file and the weights are copied to at start. Left out: they are read in place, in the bank `constants`.
    #[serde(default)]
    pub copy_program_to: Option<Spanned<String>>,
    /// The name of the bank of static data, the stack and planned tensors.
    pub arena: Spanned<String>,
    /// The names of the banks of planned tensors, the fastest first: those accessed most go to the first. Left out: the bank `arena`.
    #[serde(default)]
    pub tensors: Option<Vec<Spanned<String>>>,
    /// Bytes kept for the stack.
    pub stack: Spanned<ByteSize>,
    /// The block that a boot ROM searches near the start of the code bank.
    #[serde(default)]
    pub boot_block: Option<BootBlock>,
}

impl MemoryFile {
    /// Resolves the names of banks and checks the uses of each bank.
    pub fn resolve(self) -> Result<Memory, Diagnostic> {
        let code = self.bank(&self.code, Access::executes, "choose a bank with access `rx` or `rwx` for code")?;
        let constants = self.bank(&self.constants, |_| true, "")?;
        let arena = self.bank(&self.arena, Access::writes, "choose a bank with access `rw` or `rwx` for the arena")?;
        if self.stack.value >= arena.size {
            return Err(stack_too_large(&self.stack, &arena));
        }
        let tensors = self.tensors(&arena)?;
        let copied = |name| self.bank(name, Access::writes, "choose a bank with access `rw` or `rwx` for the copy");
        let copy_program_to = self.copy_program_to.as_ref().map(copied).transpose()?;
        let (banks, stack, boot_block) = (self.banks, self.stack.value, self.boot_block);
        Ok(Memory { banks, code, constants, copy_program_to, arena, tensors, stack, boot_block })
    }

    /// The banks of planned tensors, of which none comes twice.
    fn tensors(&self, arena: &Bank) -> Result<Vec<Bank>, Diagnostic> {
        let Some(names) = self.tensors.as_ref().filter(|names| !names.is_empty()) else {
            return Ok(vec![arena.clone()]);
        };
        let mut banks: Vec<Bank> = Vec::new();
        for name in names {
            let bank = self.bank(name, Access::writes, "choose banks with access `rw` or `rwx` for tensors")?;
            if banks.iter().any(|other| other.name == bank.name) {
                let message = format!("memory bank `{}` is named twice", name.value);
                let diagnostic = Diagnostic::error(Code::TargetInconsistent, message).at((*name.span).clone());
                return Err(diagnostic.help("name each bank once, the fastest first"));
            }
            banks.push(bank);
        }
        Ok(banks)
    }

    fn bank(&self, name: &Spanned<String>, usable: fn(Access) -> bool, rule: &str) -> Result<Bank, Diagnostic> {
        let bank =
            self.banks.iter().find(|bank| bank.name.as_str() == name.value).ok_or_else(|| self.unknown_bank(name))?;
        if usable(bank.access) { Ok(bank.clone()) } else { Err(unusable(name, rule)) }
    }

    fn unknown_bank(&self, name: &Spanned<String>) -> Diagnostic {
        let names: Vec<&str> = self.banks.iter().map(|bank| bank.name.as_str()).collect();
        let near = suggest(&name.value, names.iter().copied());
        let help = near
            .map_or_else(|| format!("the banks are {}", names.join(", ")), |near| format!("did you mean `{near}`?"));
        let message = format!("unknown memory bank `{}`", name.value);
        Diagnostic::error(Code::UnknownBank, message).at((*name.span).clone()).help(help)
    }
}

impl Memory {
    /// The bytes of a bank for planned tensors: all but the stack.
    pub fn room(&self, bank: &Bank) -> u64 {
        match bank.name == self.arena.name {
            true => bank.size.0.saturating_sub(self.stack.0),
            false => bank.size.0,
        }
    }

    /// The bytes of the largest bank for planned tensors.
    pub fn room_for_tensors(&self) -> u64 {
        self.tensors.iter().map(|bank| self.room(bank)).max().unwrap_or_default()
    }
}

fn unusable(name: &Spanned<String>, rule: &str) -> Diagnostic {
    let message = format!("the access of memory bank `{}` does not allow this use", name.value);
    Diagnostic::error(Code::TargetInconsistent, message).at((*name.span).clone()).help(rule)
}

fn stack_too_large(stack: &Spanned<ByteSize>, arena: &Bank) -> Diagnostic {
    let message = format!("a stack of {} fills memory bank `{}` of {}", stack.value, arena.name, arena.size);
    Diagnostic::error(Code::TargetInconsistent, message).at((*stack.span).clone()).help("write a smaller stack")
}
