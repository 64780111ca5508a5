//! Arbitrary bytes either import as a program that runs, or are an error. Corpus: the archives in `tests/data`.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(program) = etbuild_import::import_pt2(Arc::new(bytes.to_vec())) {
        drop(etbuild_pass::to_core_aten(program).and_then(etbuild_pass::to_edge));
    }
});
