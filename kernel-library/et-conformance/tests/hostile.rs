//! Kernels answer calls that no compiler makes.

use std::collections::BTreeMap;
use std::panic::catch_unwind;

use et_conformance::call_changed;

/// The calls; the fuzz target `kernels` makes more (`docs/fuzzing.md`).
const CALLS: u32 = 200_000;

/// The bytes of a call.
const BYTES: usize = 40;

#[test]
fn kernels_answer_changed_calls() {
    let (mut state, mut found, mut answered) = (0x2545_f491_4f6c_dd1d_u64, BTreeMap::new(), [0_u32; 2]);
    for _ in 0..CALLS {
        // Marsaglia's xorshift.
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        })
        .take(BYTES / 8)
        .flatten()
        .collect();
        match catch_unwind(|| call_changed(&bytes)) {
            Ok(Some((_, has_outputs))) => answered[usize::from(has_outputs)] += 1,
            Ok(None) => {}
            Err(_) => drop(found.insert(u16::from_le_bytes([bytes[0], bytes[1]]), bytes)),
        }
    }
    assert!(found.is_empty(), "{found:?}");
    // Most changes leave a call that the kernel answers.
    assert!(answered.iter().all(|count| *count > CALLS / 20), "{answered:?}");
}
