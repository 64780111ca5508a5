//! Golden tests: each pass alone (`tests/passes/<pass>/*.ir`), all passes in order (`tests/lowering/*.ir`), and
//! surveys of programs that cannot be lowered (`tests/survey/*.ir`).

use std::path::Path;

use etbuild_golden::{Case, check};
use etbuild_ir::{AtenProgram, Dialect, Graph, Lowered, Program, compact};
use etbuild_pass::{
    CHECK_UPSTREAM, FOR_UPSTREAM, Pass, Refusal, Runtime, Survey, TO_CORE_ATEN, TO_EDGE, TO_FLOAT32, TO_LOWERED, lower,
    survey,
};

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");

/// The output of a pass: the program, `unchanged`, or the refused calls. The option `unused` prints unused values.
fn run(pass: &Pass, case: &Case) -> Result<String, String> {
    let mut program = case.program();
    for (method, graph) in &mut program.methods {
        match (pass.run)(std::mem::take(graph)) {
            Ok(changed) => *graph = changed,
            Err(refusals) => return Ok(lines(&refusals, method)),
        }
    }
    if program == case.program() {
        return Ok("unchanged".to_owned());
    }
    let mut program = verified(program)?.into_program();
    if case.option("unused") != Some("print") {
        program.methods.values_mut().for_each(remove_unused_values);
    }
    Ok(case.print(case.dialect(), &program))
}

fn remove_unused_values(graph: &mut Graph) {
    let nodes = std::mem::take(&mut graph.nodes);
    *graph = compact(std::mem::take(graph), nodes);
}

fn lines(refusals: &[Refusal], method: &str) -> String {
    let line = |refusal: &Refusal| Refusal { method: method.to_owned(), ..refusal.clone() }.to_string();
    refusals.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The program in the dialect that allows every operator.
fn verified(program: Program) -> Result<AtenProgram, String> {
    AtenProgram::verify(program).map_err(|violations| format!("{violations:?}"))
}

fn runtime(case: &Case) -> Result<Runtime, String> {
    let name = case.option("runtime").unwrap_or(Runtime::Etbuild.name());
    let mut runtimes = [Runtime::Etbuild, Runtime::Executorch].into_iter();
    runtimes.find(|runtime| runtime.name() == name).ok_or_else(|| format!("there is no runtime `{name}`"))
}

#[test]
fn every_pass_rewrites_the_programs_of_its_folder_as_expected() {
    for pass in [TO_FLOAT32, FOR_UPSTREAM, TO_CORE_ATEN, TO_EDGE, CHECK_UPSTREAM, TO_LOWERED].concat() {
        check(Path::new(TESTS).join("passes").join(pass.name), |case| run(pass, case));
    }
}

#[test]
fn lowering_prints_the_program_or_every_refused_call() {
    check(Path::new(TESTS).join("lowering"), |case| {
        Ok(match lower(verified(case.program())?, runtime(case)?) {
            Ok(lowered) => case.print(Lowered::NAME, lowered.program()),
            Err(error) => error.to_string(),
        })
    });
}

#[test]
fn a_survey_lists_the_refused_calls_of_all_passes_and_lowers_the_rest() {
    check(Path::new(TESTS).join("survey"), |case| {
        let Survey { mut program, refusals } = survey(verified(case.program())?, runtime(case)?);
        program.methods.values_mut().for_each(remove_unused_values);
        let refusals = refusals.iter().map(Refusal::to_string).collect::<Vec<_>>().join("\n");
        Ok(format!("{refusals}\n{}", case.print(Lowered::NAME, &program)))
    });
}
