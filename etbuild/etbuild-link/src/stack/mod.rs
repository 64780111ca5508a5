//! The most bytes of stack that firmware can use, from its instructions.
//!
//! The linker's map names the functions. In each of them, all paths are followed: what an instruction adds to the stack, and which
//! functions are called with how many bytes in use. The bound is the deepest chain of calls from the first instruction. A call
//! through a pointer that is no constant reaches every function whose address is stored somewhere. Interrupts come on top: firmware has none but faults.

mod body;
mod image;
mod instruction;
mod registers;
mod riscv;
mod thumb;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use body::{Body, Callee, Unclear};
use image::Image;

/// What the instructions of firmware say of the stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StackUse {
    /// The most bytes that are in use at once.
    Bounded(StackBound),
    /// No bound follows from the instructions.
    Unbounded {
        /// The reason, a sentence without a full stop.
        reason: String,
    },
}

/// The most bytes of the stack that are in use at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackBound {
    /// Bytes.
    pub bytes: u32,
    /// The calls that take them, the outermost first.
    pub calls: Vec<Frame>,
}

/// A function in a chain of calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The function.
    pub function: String,
    /// The bytes in use at the call of the next function, and of the last function the most.
    pub bytes: u32,
}

impl StackUse {
    /// The stack of a linked file with the linker's map; `None` for a file that is not of a 32-bit microcontroller, or a map of
    /// another linker than LLD.
    pub fn of(binary: &[u8], map: &str) -> Option<Self> {
        let image = Image::new(binary, map)?;
        let entry = image.entry()?;
        let mut search = Search { taken: image.taken(), image, needs: BTreeMap::new(), open: Vec::new() };
        Some(match search.need(entry) {
            Ok(bytes) => Self::Bounded(StackBound { bytes, calls: search.chain(entry) }),
            Err(reason) => Self::Unbounded { reason },
        })
    }

    /// The bound, if there is one.
    pub const fn bound(&self) -> Option<&StackBound> {
        match self {
            Self::Bounded(bound) => Some(bound),
            Self::Unbounded { .. } => None,
        }
    }
}

/// A search of the deepest chain, by depth first.
struct Search<'f> {
    image: Image<'f>,
    /// The functions that pointers may point at.
    taken: Vec<u32>,
    /// By function: the bytes, and where the deepest chain goes on, with the bytes in use there.
    needs: BTreeMap<u32, Need>,
    /// The functions on the way to the one that is looked at.
    open: Vec<u32>,
}

struct Need {
    bytes: u32,
    deepest: Option<(u32, u32)>,
    most: u32,
}

impl Search<'_> {
    fn need(&mut self, function: u32) -> Result<u32, String> {
        if let Some(known) = self.needs.get(&function) {
            return Ok(known.bytes);
        }
        if self.open.contains(&function) {
            return Err(format!("`{}` may call itself", self.image.name(function)));
        }
        self.open.push(function);
        let body = self.body(function)?;
        let mut need = Need { bytes: body.most, deepest: None, most: body.most };
        for (callee, depth) in body.calls {
            let callees = match callee {
                Callee::At(address) => vec![address],
                Callee::Pointer => self.taken.clone(),
            };
            for callee in callees {
                let bytes = depth + self.need(callee)?;
                if bytes > need.bytes {
                    (need.bytes, need.deepest) = (bytes, Some((callee, depth)));
                }
            }
        }
        self.open.pop();
        let bytes = need.bytes;
        self.needs.insert(function, need);
        Ok(bytes)
    }

    fn body(&self, function: u32) -> Result<Body, String> {
        let range = self.image.range(function).ok_or_else(|| format!("there are no instructions at {function:#x}"))?;
        Body::of(&self.image, range).map_err(|unclear| match unclear {
            Unclear::Computed => format!("`{}` takes a computed number of bytes", self.image.name(function)),
            Unclear::Grows => format!("a loop of `{}` takes more in each turn", self.image.name(function)),
        })
    }

    /// The deepest chain of calls from a function, whose need is known.
    fn chain(&self, function: u32) -> Vec<Frame> {
        let (mut chain, mut next) = (Vec::new(), Some(function));
        while let Some((function, need)) = next.and_then(|function| Some((function, self.needs.get(&function)?))) {
            let bytes = need.deepest.map_or(need.most, |(_, depth)| depth);
            chain.push(Frame { function: self.image.name(function).to_owned(), bytes });
            next = need.deepest.map(|(callee, _)| callee);
        }
        chain
    }
}

#[cfg(test)]
mod tests {
    use object::write::{Object, Symbol, SymbolSection};
    use object::{Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope};

    use super::*;

    const HEAD: &str = "     VMA      LMA     Size Align Out     In      Symbol\n";

    /// What the functions of a file of Thumb instructions need, the first of which is the entry: a name, and half-words. A function starts
    /// behind the one before, at an even number of half-words; `data` lies behind all.
    fn stack(functions: &[(&str, &[u16])], data: &[u32]) -> StackUse {
        marked(functions, data, &[])
    }

    /// The same with further marks by address: where data, or instructions, begin.
    fn marked(functions: &[(&str, &[u16])], data: &[u32], marks: &[(u32, &str)]) -> StackUse {
        let mut object = Object::new(BinaryFormat::Elf, Architecture::Arm, Endianness::Little);
        let section = object.add_section(Vec::new(), b".text".to_vec(), SectionKind::Text);
        let mut map = HEAD.to_owned();
        for (name, halves) in functions {
            let code: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
            let start = object.append_section_data(section, &code, 4);
            let size = code.len();
            map += &format!("{start:8x} {start:8x} {size:8x}     4         a.o:(.text.{name})\n");
            map += &format!("{start:8x} {start:8x}        0     1                 $t\n");
            map += &format!("{:8x} {:8x} {size:8x}     1                 {name}\n", start | 1, start | 1);
        }
        for (address, mark) in marks {
            map += &format!("{address:8x} {address:8x}        0     1                 {mark}\n");
        }
        let constants = object.add_section(Vec::new(), b".rodata".to_vec(), SectionKind::ReadOnlyData);
        let bytes: Vec<u8> = data.iter().flat_map(|word| word.to_le_bytes()).collect();
        object.append_section_data(constants, &bytes, 4);
        object.add_symbol(Symbol {
            name: b"reset".to_vec(),
            value: 0,
            size: 0,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak: false,
            section: SymbolSection::Section(section),
            flags: SymbolFlags::None,
        });
        StackUse::of(&object.write().unwrap(), &map).unwrap()
    }

    fn frames(stack: &StackUse) -> Vec<(&str, u32)> {
        let bound = stack.bound().unwrap_or_else(|| panic!("{stack:?}"));
        bound.calls.iter().map(|frame| (frame.function.as_str(), frame.bytes)).collect()
    }

    fn reason(stack: StackUse) -> String {
        match stack {
            StackUse::Unbounded { reason } => reason,
            StackUse::Bounded(bound) => panic!("{bound:?}"),
        }
    }

    /// push {r7, lr}; bl +offset; pop {r7, pc}
    const fn calls(offset: u16) -> [u16; 4] {
        [0xb580, 0xf000, 0xf800 | ((offset - 6) / 2), 0xbd80]
    }

    const LEAF: [u16; 4] = [0xb090, 0xb090, 0xb020, 0x4770]; // sub sp, #64 twice; add sp, #128; bx lr

    #[test]
    fn the_deepest_chain_counts() {
        let found = stack(&[("reset", &calls(8)), ("middle", &calls(8)), ("leaf", &LEAF)], &[]);
        assert_eq!(frames(&found), [("reset", 8), ("middle", 8), ("leaf", 128)]);
        assert_eq!(found.bound().unwrap().bytes, 144);
    }

    #[test]
    fn a_tail_call_has_the_stack_of_the_callee_alone() {
        // push {r7, lr}; pop {r7, lr} (wide); b leaf
        let tail = [0xb580, 0xe8bd, 0x4080, 0xe000, 0xbf00, 0xbf00];
        let found = stack(&[("reset", &tail), ("leaf", &LEAF)], &[]);
        assert_eq!((found.bound().unwrap().bytes, frames(&found)[0]), (128, ("reset", 0)));
    }

    #[test]
    fn a_pointer_reaches_the_functions_whose_addresses_are_stored() {
        // push {r7, lr}; ldr r3, [r0]; blx r3; pop {r7, pc}
        let through = [0xb580, 0x6803, 0x4798, 0xbd80];
        let found = stack(&[("reset", &through), ("other", &LEAF), ("small", &calls(8)), ("end", &[0x4770])], &[17]);
        assert_eq!(found.bound().unwrap().bytes, 16);
        let found = stack(&[("reset", &through), ("other", &LEAF), ("end", &[0x4770])], &[9, 17]);
        assert_eq!(found.bound().unwrap().bytes, 136);
        // A register with a constant is no pointer to others: movw r3, #17 in the place of the load.
        let constant = [0xb580, 0xf240, 0x0315, 0x4798, 0xbd80, 0xbf00];
        let found = stack(&[("reset", &constant), ("other", &LEAF), ("end", &[0x4770])], &[13, 21]);
        assert_eq!(frames(&found), [("reset", 8)]);
    }

    #[test]
    fn a_table_of_places_is_followed() {
        // tbb [pc, r0] with two places: bx lr; a push of five registers and back
        let table = [0xe8df, 0xf000, 0x0201, 0x4770, 0xb5f0, 0xbdf0];
        let found = marked(&[("reset", &table)], &[], &[(4, "$d"), (6, "$t")]);
        assert_eq!(frames(&found), [("reset", 20)]);
    }

    #[test]
    fn what_only_a_computed_jump_can_reach_is_followed() {
        // mov pc, r0, in a frame of 8 bytes; a push of five registers and back
        let found = stack(&[("reset", &[0xb580, 0x4687, 0xb5f0, 0xbdf0])], &[]);
        assert_eq!(frames(&found), [("reset", 28)]);
    }

    #[test]
    fn no_bound_follows_from_recursion_from_growth_and_from_computed_sizes() {
        // reset calls itself.
        assert_eq!(reason(stack(&[("reset", &[0xb580, 0xf7ff, 0xfffd, 0xbd80])], &[])), "`reset` may call itself");
        // push {r4}; b back to the push
        assert_eq!(reason(stack(&[("reset", &[0xb410, 0xe7fd])], &[])), "a loop of `reset` takes more in each turn");
        // sub.w sp, sp, r0
        let found = stack(&[("reset", &[0xebad, 0x0d00, 0x4770])], &[]);
        assert_eq!(reason(found), "`reset` takes a computed number of bytes");
        // movw r0, #4096; sub.w sp, sp, r0
        let found = stack(&[("reset", &[0xf241, 0x0000, 0xebad, 0x0d00, 0x4770])], &[]);
        assert_eq!(found.bound().unwrap().bytes, 4096);
    }

    #[test]
    fn a_call_at_the_end_does_not_return_into_the_next_function() {
        let found = stack(&[("reset", &[0xb580, 0xf000, 0xf805]), ("next", &calls(8)), ("leaf", &[0x4770])], &[]);
        assert_eq!(frames(&found), [("reset", 8)]);
    }

    #[test]
    fn other_files_have_no_stack_of_firmware() {
        assert_eq!(StackUse::of(b"\x7fELF", HEAD), None);
        assert_eq!(StackUse::of(include_bytes!("mod.rs"), HEAD), None);
    }
}
