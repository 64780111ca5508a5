//! Calls of portable kernels with the arguments of cases, changed: outputs or an error, within the tensors. No corpus.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    et_conformance::call_changed(bytes);
});
