//! Golden tests of backend programs (`tests/programs/*.ir`): the instructions of a partition after fusion.

use std::path::PathBuf;

use etbuild_golden::{Case, check};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

fn text(case: &Case) -> Result<String, String> {
    let program = case.program();
    let graph = program.methods.values().next().ok_or("the program has no method")?;
    etbuild_cpu::program_text(graph).map_err(|problem| problem.to_string())
}

#[test]
fn programs_are_fused_as_their_files_say() {
    check(folder(), text);
}

#[test]
fn every_fusion_has_a_golden_file() {
    for name in etbuild_cpu::fusion_names() {
        assert!(folder().join(format!("{name}.ir")).exists(), "{name}");
    }
}
