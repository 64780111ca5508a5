//! Command streams and weights from arbitrary bytes: the first byte chooses the NPU, half of the rest is the stream, the other half the weights.
//!
//! `cargo +nightly fuzz run command_stream --fuzz-dir backends/ethos-u/etbuild-ethos-u-model/fuzz CORPUS`

#![no_main]

use etbuild_ethos_u_model::{Memory, decode_weights, execute};
use libfuzzer_sys::fuzz_target;

/// The configurations of Ethos-U55-128, U65-512, U85-256 and U85-2048.
const NPUS: [u32; 4] = [0x1807, 0x1000_6009, 0x2000_0008, 0x2000_000b];

fuzz_target!(|bytes: &[u8]| {
    let Some((npu, bytes)) = bytes.split_first() else { return };
    let (commands, weights) = bytes.split_at(bytes.len() / 2);
    let mut scratch = [3_u8; 256];
    let mut memory = Memory::of(weights, &mut scratch);
    if let Err(fault) = execute(commands, NPUS[usize::from(npu % 4)], &mut memory) {
        assert!(fault.offset <= commands.len() && !fault.to_string().is_empty());
    }
    let _ = decode_weights(weights);
});
