//! The functions of a linked file, by the linker's map.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use object::{Architecture, Object, ObjectSection, SectionKind};

use super::instruction::{Decoder, Instruction};
use super::riscv::RiscV;
use super::thumb::Thumb;
use crate::code::{Line, MapLevel, map_lines};

/// The section that etbuild's linker scripts keep for the stack.
const STACK: &str = ".stack";

/// The name of the table of kernels.
const KERNELS: &str = "device_kernels::KERNELS";

/// The handler of the system timer's exception, which pushes nothing itself.
pub const TICK: &str = "tick";

/// The bytes that a Cortex-M pushes for an exception: eight registers, and a word that aligns them.
const PUSHED: u32 = 36;

/// What the names of functions that call kernels begin with.
const RUNTIME: [&str; 4] = ["device_binary::", "device_library::", "et_runtime::", "main"];

/// What the names of functions that call a hook begin with.
const HOOKS: &str = "et_runtime::hooks::call_";

/// The linked file of a 32-bit microcontroller.
pub struct Image<'f> {
    file: object::File<'f>,
    architecture: Architecture,
    /// The contents of the linked sections that have bytes.
    contents: Vec<Section<'f>>,
    /// The table of kernels, which the runtime alone reads.
    kernels: Range<u32>,
    /// Where the objects' sections end, by their addresses: behind them are bytes that fill up.
    sections: BTreeMap<u32, u32>,
    /// The names of functions by address.
    functions: BTreeMap<u32, String>,
    /// Where stretches of instructions, or of data, begin.
    stretches: BTreeMap<u32, Contents>,
}

/// The contents of a linked section.
struct Section<'f> {
    address: u32,
    bytes: &'f [u8],
    is_code: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Contents {
    Instructions,
    Data,
}

impl<'f> Image<'f> {
    /// The image of a linked file and its map; `None` for another processor, and where there is no map of LLD.
    pub fn new(binary: &'f [u8], map: &str) -> Option<Self> {
        let file = object::File::parse(binary).ok()?;
        let architecture = file.architecture();
        if !matches!(architecture, Architecture::Arm | Architecture::Riscv32) {
            return None;
        }
        let (sections, functions, stretches) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let section = |section: object::Section<'f, '_>| {
            let (address, bytes) = (u32::try_from(section.address()).ok()?, section.data().ok()?);
            Some(Section { address, bytes, is_code: section.kind() == SectionKind::Text })
        };
        let contents = file.sections().filter_map(section).filter(|section| !section.bytes.is_empty()).collect();
        let mut image = Self { file, architecture, contents, kernels: 0..0, sections, functions, stretches };
        map_lines(map).for_each(|line| image.add(&line));
        (!image.functions.is_empty()).then_some(image)
    }

    fn add(&mut self, line: &Line<'_>) {
        let [Ok(address), Ok(size)] = [line.address, line.size].map(u32::try_from) else { return };
        match line.level {
            MapLevel::Section => {}
            MapLevel::ObjectSection => {
                self.sections.insert(address, address.saturating_add(size));
            }
            MapLevel::Symbol if line.name.starts_with(KERNELS) => self.kernels = address..address.saturating_add(size),
            MapLevel::Symbol => self.add_symbol(address, line.name),
        }
    }

    fn add_symbol(&mut self, address: u32, name: &str) {
        let is_code = || self.section_of(address & !1).is_some_and(|section| section.is_code);
        match name {
            name if name.starts_with("$t") || name.starts_with("$x") => {
                self.stretches.insert(address, Contents::Instructions);
            }
            name if name.starts_with("$d") => {
                self.stretches.insert(address, Contents::Data);
            }
            // A label within a function, of an address that RISC-V puts together.
            name if name.starts_with(".L") => {}
            _ if is_code() => {
                self.functions.entry(self.without_mode(address)).or_insert_with(|| name.to_owned());
            }
            _ => {}
        }
    }

    /// The address of a function, of which Arm's lowest bit says that its instructions are Thumb's.
    fn without_mode(&self, address: u32) -> u32 {
        if self.architecture == Architecture::Arm { address & !1 } else { address }
    }

    /// Whether the file has a stack of its own, as a process has not.
    pub fn has_stack(&self) -> bool {
        self.file.section_by_name(STACK).is_some()
    }

    /// The function with a name of C.
    pub fn function(&self, name: &str) -> Option<u32> {
        self.functions.iter().find_map(|(address, known)| (known == name).then_some(*address))
    }

    /// Whether the function at an address calls a hook, which is the caller's.
    pub fn calls_hook(&self, function: u32) -> bool {
        self.name(function).starts_with(HOOKS)
    }

    /// Where execution begins.
    pub fn entry(&self) -> Option<u32> {
        Some(self.without_mode(u32::try_from(self.file.entry()).ok()?))
    }

    /// The bytes that the processor pushes for the exception of firmware that returns; `None` without that exception.
    pub fn interrupt(&self) -> Option<u32> {
        let is_here = self.architecture == Architecture::Arm && self.functions.values().any(|name| name == TICK);
        is_here.then_some(PUSHED)
    }

    /// The name of the function at an address.
    pub fn name(&self, address: u32) -> &str {
        self.functions.get(&address).map_or("", |name| without_hash(name))
    }

    /// The function at an address, to where the next one begins.
    pub fn range(&self, address: u32) -> Option<Range<u32>> {
        let (_, end) = self.sections.range(..=address).next_back()?;
        let next = self.functions.range(address + 1..).next().map_or(*end, |(next, _)| *next);
        let is_code = self.section_of(address).is_some_and(|section| section.is_code);
        is_code.then(|| address..next.min(*end))
    }

    pub fn decoder(&self) -> Box<dyn Decoder> {
        match self.architecture {
            Architecture::Arm => Box::new(Thumb::default()),
            _ => Box::new(RiscV::default()),
        }
    }

    /// The instructions of a range by address.
    pub fn instructions(&self, range: Range<u32>) -> BTreeMap<u32, Instruction> {
        let mut decoder = self.decoder();
        let mut instructions = BTreeMap::new();
        let mut address = range.start;
        while address < range.end {
            let stretch = self.stretches.range(..=address).next_back().map(|(_, contents)| *contents);
            let decoded = self.bytes(address).and_then(|code| decoder.decode(address, code, &|at| self.word(at)));
            match decoded {
                Some(instruction) if stretch != Some(Contents::Data) => {
                    instructions.insert(address, instruction);
                    address += instruction.size;
                }
                _ => address = self.stretches.range(address + 1..).next().map_or(range.end, |(next, _)| *next),
            }
        }
        instructions
    }

    /// The addresses of all functions.
    pub fn functions(&self) -> impl Iterator<Item = u32> + '_ {
        self.functions.keys().copied()
    }

    /// The function that a pointer with this value points at.
    pub fn pointed(&self, value: u32) -> Option<u32> {
        let mode = u32::from(self.architecture == Architecture::Arm);
        let function = value & !mode;
        (value & 1 == mode && self.functions.contains_key(&function)).then_some(function)
    }

    /// The places of a table behind an instruction at `address`: offsets in half-words, of `size` bytes each.
    pub fn table(&self, address: u32, size: u32) -> Vec<u32> {
        let start = address + 4;
        let end = self.stretches.range(start + 1..).next().map_or(start, |(end, _)| *end);
        let bytes = self.bytes(start).and_then(|bytes| bytes.get(..(end - start) as usize)).unwrap_or_default();
        let offset = |entry: &[u8]| entry.iter().rev().fold(0, |offset, byte| offset << 8 | u32::from(*byte));
        bytes.chunks_exact(size as usize).map(|entry| start + 2 * offset(entry)).collect()
    }

    /// The words of constants and variables by address, but for the vector table, which the processor alone reads.
    fn words(&self) -> impl Iterator<Item = (u32, u32)> {
        let is_data = |section: &object::Section<'_, '_>| section.kind() != SectionKind::Text;
        let sections = self.file.sections().filter(is_data).filter(|section| section.name() != Ok(".vectors"));
        let contents =
            |section: object::Section<'f, '_>| Some((u32::try_from(section.address()).ok()?, section.data().ok()?));
        sections.filter_map(contents).flat_map(|(start, bytes)| {
            let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
            (start..).step_by(4).zip(words)
        })
    }

    /// The functions whose addresses are constants or variables: kernels, and others.
    pub fn stored(&self) -> (BTreeSet<u32>, BTreeSet<u32>) {
        let functions = self.words().filter_map(|(address, word)| Some((address, self.pointed(word)?)));
        let (kernels, others): (Vec<_>, Vec<_>) = functions.partition(|(address, _)| self.kernels.contains(address));
        let names = |functions: Vec<(u32, u32)>| functions.into_iter().map(|(_, function)| function).collect();
        (names(kernels), names(others))
    }

    /// Whether the function at an address may call kernels: it is of the runtime, or of the firmware, with which the compiler merges the runtime.
    pub fn calls_kernels(&self, function: u32) -> bool {
        let name = self.name(function).trim_start_matches('<');
        RUNTIME.iter().any(|part| name.starts_with(part))
    }

    fn word(&self, address: u32) -> Option<u32> {
        self.bytes(address)?.first_chunk().map(|word| u32::from_le_bytes(*word))
    }

    /// The bytes from an address to the end of its section.
    fn bytes(&self, address: u32) -> Option<&'f [u8]> {
        let section = self.section_of(address)?;
        section.bytes.get((address - section.address) as usize..)
    }

    /// The section with an address.
    fn section_of(&self, address: u32) -> Option<&Section<'f>> {
        let is_inside = |section: &&Section<'_>| {
            address.checked_sub(section.address).is_some_and(|offset| (offset as usize) < section.bytes.len())
        };
        self.contents.iter().find(is_inside)
    }
}

/// `a::b::h0123456789abcdef` without the compiler's hash.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() >= 15 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => path,
        _ => name,
    }
}
