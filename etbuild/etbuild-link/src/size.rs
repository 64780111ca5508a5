//! Sizes of a linked file's sections, by content.

use object::{Object, ObjectSection, SectionFlags, SectionKind, elf, pe};
use serde::{Deserialize, Serialize};

use crate::{LinkError, wasm};

/// Bytes of a linked file by content; on a hosted target `verify`, `arena` and `stack` are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeReport {
    /// Instructions and the vector table.
    pub text: u64,
    /// Constants.
    pub rodata: u64,
    /// Variables that start with a value: in flash, and copied to RAM.
    pub data: u64,
    /// Variables that start with zeros.
    pub bss: u64,
    /// The weights, blobs and lists of numbers of the program file.
    pub program: u64,
    /// The inputs and outputs that the firmware checks itself with.
    pub verify: u64,
    /// The bytes of the program file that are copied to RAM too.
    #[serde(default)]
    pub copied: u64,
    /// The planned arenas.
    pub arena: u64,
    /// The stack, with room for the value table.
    pub stack: u64,
}

/// The section of a program that is copied to RAM.
const COPIED: &str = ".program_copy";

impl SizeReport {
    /// Reads the sections of `binary`.
    ///
    /// # Errors
    /// [`LinkError::Image`] for a file that is not linked.
    pub fn of(binary: &[u8]) -> Result<Self, LinkError> {
        if wasm::is_module(binary) {
            return Self::of_module(binary);
        }
        let malformed = |error| LinkError::Image(format!("the linked file cannot be read: {error}"));
        let file = object::File::parse(binary).map_err(malformed)?;
        let mut report = Self::default();
        for section in file.sections().filter(is_content) {
            let name = section.name().map_err(malformed)?;
            if let Some(count) = report.count_of(name, section.kind()) {
                *count += section.size();
            }
            if name == COPIED {
                report.copied += section.size();
            }
        }
        Ok(report)
    }

    fn of_module(module: &[u8]) -> Result<Self, LinkError> {
        let cut = || LinkError::Image("the linked module is cut".to_owned());
        let sizes = wasm::sizes(module).ok_or_else(cut)?;
        Ok(Self { text: sizes.code, data: sizes.data, ..Self::default() })
    }

    /// The used bytes of the flash but for the verification data, which a release lacks.
    pub fn flash(&self) -> u64 {
        self.flash_beyond_program() + self.program
    }

    /// The flash of etbuild's code: the used bytes but for the program file and the verification data.
    pub fn flash_beyond_program(&self) -> u64 {
        self.text + self.rodata + self.data
    }

    /// The used bytes of the RAM.
    pub fn ram(&self) -> u64 {
        self.static_ram() + self.arena + self.stack
    }

    /// The RAM of variables and of the program's copy: all but the planned arenas and the stack.
    pub fn static_ram(&self) -> u64 {
        self.data + self.bss + self.copied
    }

    /// The kind of a section: by the name in etbuild's linker scripts, else by the section's type.
    fn count_of(&mut self, name: &str, kind: SectionKind) -> Option<&mut u64> {
        Some(match (name, kind) {
            (".program" | COPIED, _) => &mut self.program,
            (".verify", _) => &mut self.verify,
            (name, _) if name == ".arena" || name.starts_with(".arena.") => &mut self.arena,
            (".stack", _) => &mut self.stack,
            (".vectors" | ".boot_block", _) | (_, SectionKind::Text) => &mut self.text,
            (_, SectionKind::Data | SectionKind::Tls) => &mut self.data,
            (_, SectionKind::UninitializedData | SectionKind::UninitializedTls) => &mut self.bss,
            _ => &mut self.rodata,
        })
    }
}

/// Whether a section is instructions or data of the running program.
fn is_content<'data>(section: &impl ObjectSection<'data>) -> bool {
    match section.flags() {
        SectionFlags::Elf { sh_flags, .. } => sh_flags.0 & elf::SHF_ALLOC.0 != 0,
        // The loader discards addresses to relocate.
        SectionFlags::Coff { characteristics } => characteristics.0 & pe::IMAGE_SCN_MEM_DISCARDABLE.0 == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_data_takes_no_flash_of_a_release() {
        let sizes = SizeReport { text: 1, rodata: 2, data: 4, program: 8, verify: 16, ..SizeReport::default() };
        assert_eq!((sizes.flash(), sizes.flash_beyond_program()), (15, 7));
    }
}
