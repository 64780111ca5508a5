//! The reader returns recipes or diagnostics with places for any text, and never panics.

use std::path::Path;

use etbuild_recipe::load;
use etbuild_system::MemorySystem;
use proptest::prelude::*;

/// Uses every part of the format.
const RECIPE: &str = "\
etbuild: 1
name: &n \"digits-${planner}\"
model: { pt2: '../a/${n}.pt2' }
export: { context: 2048 }
quantize: { scheme: int8, calibrate: 'c.safetensors', group_size: 32 }
partition: [cpu, *n]
targets:
  - linux-x86_64
  - mps2-an505
vars: { n: net, m: \"$${n}\" }
matrix: { planner: [greedy, naive] }
memory: { planner: \"${planner}\" }
verify: { inputs: t.safetensors, tolerance: 1e-4, timeout: 5 s }
budget: { file: 1.5 MiB, ram: 0x1000 }
";

/// Characters with a meaning in YAML or in recipes.
const CHARACTERS: &str = "[]{}:,-#&*!|>'\"%@`$\\\n\t \u{0}\u{feff}é0xe.~?";

fn answers(text: &str) {
    let system = MemorySystem::with_files([("r.yaml", text), ("b.yaml", "name: base")]);
    if let Err(diagnostics) = load(&system, Path::new("r.yaml"), &[]) {
        assert!(!diagnostics.is_empty());
        assert!(diagnostics.iter().all(|diagnostic| diagnostic.span.is_some() && diagnostic.help.is_some()));
        let _ = etbuild_diagnostic::render::human(&diagnostics, true);
    }
}

fn mutated(edits: &[(usize, usize, Option<usize>)]) -> String {
    let alphabet: Vec<char> = CHARACTERS.chars().collect();
    let mut text: Vec<char> = RECIPE.chars().collect();
    for (position, removed, inserted) in edits {
        let start = position % (text.len() + 1);
        let end = (start + removed).min(text.len());
        text.splice(start..end, inserted.map(|index| alphabet[index % alphabet.len()]));
    }
    text.into_iter().collect()
}

#[test]
fn the_unchanged_recipe_is_right() {
    let system = MemorySystem::with_files([("r.yaml", RECIPE)]);
    assert_eq!(load(&system, Path::new("r.yaml"), &[]).unwrap().instances.len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_recipe_is_answered(
        edits in prop::collection::vec((any::<usize>(), 0..4_usize, prop::option::of(any::<usize>())), 1..8),
    ) {
        answers(&mutated(&edits));
    }

    #[test]
    fn any_text_is_answered(text in "(?s).{0,200}") {
        answers(&text);
    }
}
