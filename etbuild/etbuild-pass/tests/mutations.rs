//! Randomly edited programs: the importer and the passes return an error or a valid program.
#![allow(clippy::disallowed_methods, reason = "tests read files")]

use std::path::Path;
use std::sync::Arc;

use etbuild_import::import_pt2;
use etbuild_pass::{Runtime, lower};

const ARCHIVES: [&str; 8] =
    ["attention", "digits_core", "elementwise", "images", "language", "layers", "shapes", "writes"];

/// The number of edits of each archive.
const ROUNDS: usize = 100;

/// A linear congruential generator (Knuth, MMIX): the same edits in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

fn archive(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../etbuild-import/tests/data");
    std::fs::read(folder.join(format!("{name}.pt2"))).unwrap()
}

/// The byte range of the program in the archive, which stores the program uncompressed.
fn program(bytes: &[u8]) -> std::ops::Range<usize> {
    let find = |text: &[u8]| bytes.windows(text.len()).position(|window| window == text).unwrap();
    find(b"{\"graph_module\"")..find(b"\"module_call_graph\"")
}

/// Replaces digits by digits and signs, so that the text stays JSON.
fn change(bytes: &mut [u8], program: &std::ops::Range<usize>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let start = program.start + random.below(program.len());
        let Some(offset) = bytes[start..program.end].iter().position(u8::is_ascii_digit) else { continue };
        let negative = bytes[start + offset - 1] == b' ' && bytes[start + offset + 1].is_ascii_digit();
        bytes[start + offset] = if negative && random.below(3) == 0 { b'-' } else { b"0123456789"[random.below(10)] };
    }
}

#[test]
fn changed_numbers_never_make_the_passes_panic() {
    let mut random = Random(42);
    let mut ran = 0;
    for name in ARCHIVES {
        let original = archive(name);
        let program = program(&original);
        for _ in 0..ROUNDS {
            let mut changed = original.clone();
            change(&mut changed, &program, &mut random);
            if let Ok(program) = import_pt2(Arc::new(changed)) {
                let runtime = [Runtime::Etbuild, Runtime::Executorch][random.below(2)];
                ran += usize::from(lower(program, runtime).is_ok());
            }
        }
    }
    assert!(ran > 0, "some edited programs are still valid");
}
