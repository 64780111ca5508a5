//! Command streams of a few commands: the results, and the fault of each command that no NPU executes.

use etbuild_ethos_u_model::{Executed, Fault, Memory, Problem, execute};

/// The configurations of Ethos-U55-128, U65-512 and U85-256.
const U55: u32 = 0x1807;
const U65: u32 = 0x1000_6009;
const U85: u32 = 0x2000_0008;

const STOP: u32 = 0xffff_0000;

/// A command without a payload.
fn short(code: u16, parameter: i32) -> Vec<u32> {
    vec![u32::from(code) | (parameter as u32) << 16]
}

/// A command with a payload.
fn long(code: u16, parameter: u32, payload: u32) -> Vec<u32> {
    vec![u32::from(code | 0x4000) | parameter << 16, payload]
}

fn run(words: &[u32], config: u32, scratch: &mut [u8]) -> Result<Executed, Fault> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut memory = Memory::of(&[5; 32], scratch);
    execute(&bytes, config, &mut memory)
}

/// The registers of a feature map of `depth` signed integers of 8 bits, from `region` on.
fn map(region: u16, base: u16, precision: u16, zero: i32, [address, depth]: [u32; 2]) -> Vec<u32> {
    let tiles = (0..4).flat_map(|tile| long(base + tile, 0, if tile == 0 { address } else { 0 }));
    let strides = [depth, depth, 1].into_iter().zip([4, 5, 6]).flat_map(|(stride, code)| long(base + code, 0, stride));
    let sizes = [0xa, 0xb, 0xc].into_iter().flat_map(|code| short((region & 0xff0) + code, 0));
    let rest =
        [short(region, 1), short(precision, 1), short((region & 0xff0) + if region == 0x11f { 8 } else { 9 }, zero)];
    tiles.chain(strides).chain(sizes).chain(rest.concat()).collect()
}

/// A sum of two vectors of 4 elements at 0 and 4, to 8, on U55: both operands have a factor.
fn sum(mode: i32) -> Vec<u32> {
    let inputs = [map(0x10f, 0x00, 0x105, 1, [0, 4]), map(0x18f, 0x80, 0x185, 0, [4, 4])].concat();
    let output = [map(0x11f, 0x10, 0x114, -1, [8, 4]), short(0x114, 0x8101 - 0x10000)].concat();
    let size = [short(0x111, 0), short(0x112, 0), short(0x113, 3)].concat();
    let scales = [long(0x25, 0, 2), long(0x26, 0, 1), long(0x24, 1, 1), short(0x180, 0)].concat();
    let activation = [short(0x125, 0), short(0x126, -128), short(0x127, 127)].concat();
    [inputs, output, size, scales, activation, short(0x006, mode), vec![STOP]].concat()
}

#[test]
fn operands_are_scaled_joined_and_rounded() {
    let mut scratch = [1, 2, 101, 0xff, 10, 3, 0x80, 0, 0, 0, 0, 0];
    assert_eq!(run(&sum(1), U55, &mut scratch), Ok(Executed { operations: 1, copies: 0 }));
    // ((a - 1) * 2 + b) / 2, halves up, - 1
    assert_eq!(scratch[8..], [4, 2, 35, 0xfd]);
    run(&sum(2), U55, &mut scratch).unwrap();
    assert_eq!(scratch[8..], [0xfa, 0xff, 127, 0xfd]);
}

#[test]
fn a_copy_of_several_rows_has_gaps_in_the_target() {
    let addresses = [long(0x30, 0, 0), long(0x31, 0, 0), long(0x32, 0, 2), long(0x33, 0, 1)].concat();
    let regions = [short(0x130, 0), short(0x131, 1 | 1 << 9), short(0x132, 3)].concat();
    let stream = [addresses, regions, short(0x010, 0), vec![STOP]].concat();
    let mut scratch = [0; 9];
    assert_eq!(run(&stream, U65, &mut scratch), Ok(Executed { operations: 0, copies: 1 }));
    assert_eq!(scratch, [5, 5, 0, 5, 5, 0, 5, 5, 0]);
}

#[test]
fn faults_name_the_command_and_what_is_wrong() {
    let fault = |words: &[u32], config| run(words, config, &mut [0; 12]).unwrap_err();
    let at = |offset, problem| Fault { offset, problem };
    assert_eq!(fault(&[STOP], 0x3000_0000), at(0, Problem::Npu(0x3000_0000)));
    assert_eq!(fault(&[], U55), at(0, Problem::End));
    assert_eq!(fault(&[0x4000], U55), at(0, Problem::End));
    assert_eq!(fault(&[0x8000, STOP], U55), at(0, Problem::Command(0x8000)));
    assert_eq!(fault(&[0x0012, 0x01ff, STOP], U55), at(4, Problem::Command(0x1ff)));
    assert_eq!(fault(&[0x0007, STOP], U55), at(0, Problem::Command(7)));
    assert_eq!(fault(&[0x0007, STOP], U85), at(0, Problem::Unsupported("resize")));
    assert_eq!(fault(&[0x0010, STOP], U55), at(0, Problem::NeverSet("DMA0_LEN")));
    assert_eq!(fault(&[0x4100, 0, STOP], U85), at(0, Problem::Unsupported("branch")));
    let other = "the stream is for another number of cores";
    assert_eq!(fault(&[0x0123, STOP], U65), at(0, Problem::Contradiction(other)));
    let text = fault(&sum(99), U55).to_string();
    assert!(text.ends_with("of the command stream: the model has no operation on elements with this number"), "{text}");
}

#[test]
fn maps_outside_their_region_are_faults() {
    let stream = sum(1);
    let found = run(&stream, U55, &mut [0; 11]);
    assert_eq!(found.unwrap_err().problem, Problem::Memory { region: 1, address: 11, size: 1 });
    let far: Vec<u32> = stream.iter().map(|word| if *word == 8 { u32::MAX } else { *word }).collect();
    assert!(matches!(run(&far, U55, &mut [0; 12]).unwrap_err().problem, Problem::Memory { region: 1, .. }));
    let large = [&[0xffff_0113_u32, 0xffff_0112][..], &stream].concat();
    assert!(run(&large, U55, &mut [0; 12]).is_ok(), "the stream sets the sizes anew");
    let large = [&stream[..stream.len() - 2], &[0xffff_0113, 0xffff_0112], &stream[stream.len() - 2..]].concat();
    assert_eq!(run(&large, U55, &mut [0; 12]).unwrap_err().problem, Problem::Size(1));
}

/// Every word of a stream, replaced by others.
#[test]
fn damaged_streams_never_panic() {
    let stream = sum(1);
    let mut faults = 0;
    for (place, config) in (0..stream.len()).flat_map(|place| [U55, U65, U85].map(|config| (place, config))) {
        for bit in 0..32 {
            let mut damaged = stream.clone();
            damaged[place] ^= 1 << bit;
            faults += usize::from(run(&damaged, config, &mut [0; 12]).is_err());
        }
    }
    assert!(faults > 1000, "{faults}");
}
