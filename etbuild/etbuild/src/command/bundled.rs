//! `etbuild run` on a bundled program: all cases, compared with the expected outputs.

use et_module::{Array, CaseResult, Module, Named, Tolerance, run_bundled};
use etbuild_diagnostic::{Code, Diagnostic};

use super::Outcome;
use super::program::{FORWARD, default_method, failed, write_outputs};
use crate::arguments;
use crate::session::Session;

/// Runs the cases of the method in `bundle`, from which `module` was loaded.
pub fn run(session: &Session, arguments: &arguments::Run, module: &mut Module, bundle: &[u8]) -> Outcome {
    let tolerance = Tolerance { absolute: arguments.atol, relative: arguments.rtol };
    let names = module.method_names().map_err(|error| vec![failed(&arguments.file, &error)])?;
    let method = arguments.method.as_deref().or_else(|| default_method(&names)).unwrap_or(FORWARD);
    let results = run_bundled(module, bundle, method, tolerance);
    let results = results.map_err(|error| vec![failed(&arguments.file, &error)])?;
    if results.is_empty() {
        return Err(vec![no_cases(arguments, method)]);
    }
    if let Some(outputs) = &arguments.outputs {
        write_outputs(session, outputs, &all_outputs(&results), &Named::new())?;
    }
    let differences = differences(arguments, &results);
    if differences.is_empty() {
        show(session, &results)
    } else {
        return Err(differences);
    }
    Ok(Vec::new())
}

/// The outputs of all cases: `case_0.output_0`, ...
fn all_outputs(results: &[CaseResult]) -> Named<Array> {
    let of_case = |(index, result): (usize, &CaseResult)| {
        let arrays = result.outputs.arrays.clone().into_iter();
        arrays.map(|(name, array)| (format!("case_{index}.{name}"), array)).collect::<Vec<_>>()
    };
    results.iter().enumerate().flat_map(of_case).collect()
}

fn differences(arguments: &arguments::Run, results: &[CaseResult]) -> Vec<Diagnostic> {
    let of_case = |(index, result): (usize, &CaseResult)| {
        let message = |difference: &String| format!("`{}`: case {index}: {difference}", arguments.file.display());
        let found =
            result.differences.iter().map(|difference| Diagnostic::error(Code::AccuracyFailed, message(difference)));
        found.collect::<Vec<_>>()
    };
    results.iter().enumerate().flat_map(of_case).collect()
}

fn show(session: &Session, results: &[CaseResult]) {
    let count = results.len();
    let value = serde_json::json!({ "cases": count });
    session.terminal.succeed("result", value, &format!("{count} bundled cases passed"));
}

fn no_cases(arguments: &arguments::Run, method: &str) -> Diagnostic {
    let message = format!("`{}` has no cases for method `{method}`", arguments.file.display());
    Diagnostic::error(Code::Usage, message).help("give --inputs")
}
