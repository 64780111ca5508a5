//! Files of a few functions.

use object::write::{Object, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope};

use super::*;

const HEAD: &str = "     VMA      LMA     Size Align Out     In      Symbol\n";

/// What the functions of a file of Thumb instructions need, the first of which is the entry: a name, and half-words. A function starts
/// behind the one before, at an even number of half-words; `data` lies behind all.
fn stack(functions: &[(&str, &[u16])], data: &[u32]) -> StackUse {
    marked(functions, data, &[])
}

/// The same with further symbols: address, size and name, such as that of the mark where data, or instructions, begin.
fn marked(functions: &[(&str, &[u16])], data: &[u32], marks: &[(u32, u32, &str)]) -> StackUse {
    let (binary, map) = linked(functions, data, marks);
    StackUse::of(&binary, &map).unwrap()
}

/// A linked file and its map.
fn linked(functions: &[(&str, &[u16])], data: &[u32], marks: &[(u32, u32, &str)]) -> (Vec<u8>, String) {
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
    for (address, size, mark) in marks {
        map += &format!("{address:8x} {address:8x} {size:8x}     1                 {mark}\n");
    }
    object.add_section(Vec::new(), b".stack".to_vec(), SectionKind::UninitializedData);
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
    (object.write().unwrap(), map)
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

/// push {r7, lr}; blx r1; pop {r7, pc}; nop
const CALLS_POINTER: [u16; 4] = [0xb580, 0x4788, 0xbd80, 0xbf00];

#[test]
fn a_library_leaves_the_stack_of_hooks_to_its_caller() {
    let found = |hook: &str, functions: &[&str]| {
        let code: [(&str, &[u16]); 4] =
            [("m_init", &LEAF), ("m_run", &calls(8)), (hook, &CALLS_POINTER), ("leaf", &LEAF)];
        // The addresses of `leaf` and of `m_run`, which no pointer of a library has.
        let (binary, map) = linked(&code, &[25, 9], &[]);
        StackUse::of_library(&binary, &map, &functions.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let both = ["m_init", "m_run"];
    let hooked = found("et_runtime::hooks::call_alive::h0123456789abcdef", &both).unwrap();
    assert_eq!(frames(&hooked), [("m_init", 128)]);
    let hooked = found("et_runtime::hooks::call_alive", &both[1..]).unwrap();
    assert_eq!(frames(&hooked), [("m_run", 8), ("et_runtime::hooks::call_alive", 8)]);
    let kernel = found("et_ops::calls", &both).unwrap();
    assert_eq!(frames(&kernel), [("m_run", 8), ("et_ops::calls", 8), ("leaf", 128)]);
    assert_eq!(found("et_ops::calls", &["m_run", "m_absent"]), None);
}

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
fn a_function_whose_address_is_given_away_may_be_called() {
    // push {r7, lr}; movw r1, #17; ldr r3, [r0]; blx r3; pop {r7, pc}
    let given = [0xb580, 0xf240, 0x0111, 0x6803, 0x4798, 0xbd80];
    let functions: [(&str, &[u16]); 3] = [("reset", &given), ("other", &LEAF), ("end", &[0x4770])];
    assert_eq!(stack(&functions, &[]).bound().unwrap().bytes, 8);
    // The address of `other`, in the register of an argument; then the same, stored.
    let given = [0xb580, 0xf240, 0x010d, 0x6803, 0x4798, 0xbd80];
    let stored = [0xb580, 0xf240, 0x0515, 0x6005, 0x6803, 0x4798, 0xbd80, 0xbf00];
    assert_eq!(stack(&[("reset", &given), ("other", &LEAF)], &[]).bound().unwrap().bytes, 136);
    let stored = stack(&[("reset", &stored), ("pad", &[0x4770]), ("other", &LEAF)], &[]);
    assert_eq!(stored.bound().unwrap().bytes, 136);
}

#[test]
fn kernels_call_no_kernels() {
    let through = [0xb580, 0x6803, 0x4798, 0xbd80];
    let functions: [(&str, &[u16]); 3] = [("reset", &calls(8)), ("main", &through), ("et_ops::a::out", &through)];
    // The constants lie at 0, too: this file is not linked.
    let found = marked(&functions, &[17], &[(0, 4, "device_kernels::KERNELS::h0")]);
    assert_eq!(frames(&found), [("reset", 8), ("main", 8), ("et_ops::a::out", 8)]);
    assert_eq!(reason(stack(&functions, &[17])), "`et_ops::a::out` may call itself");
}

#[test]
fn a_table_of_places_is_followed() {
    // tbb [pc, r0] with two places: bx lr; a push of five registers and back
    let table = [0xe8df, 0xf000, 0x0201, 0x4770, 0xb5f0, 0xbdf0];
    let found = marked(&[("reset", &table)], &[], &[(4, 0, "$d"), (6, 0, "$t")]);
    assert_eq!(frames(&found), [("reset", 20)]);
}

#[test]
fn what_only_a_computed_jump_can_reach_is_followed() {
    // mov pc, r0, in a frame of 8 bytes; a push of five registers and back
    let found = stack(&[("reset", &[0xb580, 0x4687, 0xb5f0, 0xbdf0])], &[]);
    assert_eq!(frames(&found), [("reset", 28)]);
}

#[test]
fn a_call_of_a_place_of_the_same_function_is_a_far_jump() {
    // push {r7, lr}; bl to the last line; pop {r7, pc}, which nothing reaches; a push of five registers and back
    let far = [0xb580, 0xf000, 0xf801, 0xbd80, 0xb5f0, 0xbdf0];
    assert_eq!(frames(&stack(&[("reset", &far)], &[])), [("reset", 28)]);
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
    let mut object = Object::new(BinaryFormat::Elf, Architecture::Arm, Endianness::Little);
    object.add_section(Vec::new(), b".text".to_vec(), SectionKind::Text);
    let map = format!(
        "{HEAD}       0        0        4     4 .text\n       1        1        4     1                 main\n"
    );
    assert_eq!(StackUse::of(&object.write().unwrap(), &map), None, "a process");
    assert_eq!(StackUse::of(b"\x7fELF", HEAD), None);
    assert_eq!(StackUse::of(include_bytes!("tests.rs"), HEAD), None);
}
