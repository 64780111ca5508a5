//! Golden tests of lowering (`tests/programs/*.ir`): the operators of a partition in TOSA.

use std::path::PathBuf;

use etbuild_golden::{Case, check};

fn text(case: &Case) -> Result<String, String> {
    let program = case.program();
    let graph = program.methods.values().next().ok_or("the program has no method")?;
    let lowered = etbuild_ethos_u::lower_to_tosa(graph).map_err(|refusal| refusal.to_string())?;
    Ok(lowered.graph.to_string())
}

#[test]
fn partitions_become_the_operators_that_their_files_say() {
    check(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs"), text);
}
