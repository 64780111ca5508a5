//! Running the cases of a folder.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::case::Case;
use crate::diff::diff;

/// The result of a case.
#[derive(Debug, PartialEq)]
enum Outcome {
    Passed,
    /// The output differs and is accepted: the new text of the file.
    Updated(String),
    Failed(String),
}

/// Runs every `*.ir` file of `folder`, in the order of their names. `run` computes the output of a case; an error of the
/// code under test is output too, where the case shows an error.
///
/// # Panics
/// When a case fails, with a diff for each, or when the folder has no case: this is a function for tests.
#[track_caller]
pub fn check(folder: impl AsRef<Path>, run: impl Fn(&Case) -> Result<String, String>) {
    let update = env::var_os("UPDATE").is_some_and(|value| value == "1") && env::var_os("CI").is_none();
    let folder = folder.as_ref();
    let files = case_files(folder).unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
    assert!(!files.is_empty(), "{} has no case: add a file `<case>.ir`", folder.display());
    let failures: Vec<String> = files.iter().filter_map(|file| failure(file, update, &run)).collect();
    let package = env::var("CARGO_PKG_NAME").unwrap_or_else(|_| "<crate>".to_owned());
    let hint = format!("to accept the found output: UPDATE=1 cargo test -p {package}");
    assert!(
        failures.is_empty(),
        "{} of {} cases failed\n\n{}\n{hint}",
        failures.len(),
        files.len(),
        failures.join("\n")
    );
}

fn case_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ir"));
    files.sort();
    Ok(files)
}

/// Runs the case of a file; the message of a failure.
fn failure(file: &Path, update: bool, run: &impl Fn(&Case) -> Result<String, String>) -> Option<String> {
    let outcome = match fs::read_to_string(file) {
        Ok(text) => outcome(&text, update, run),
        Err(error) => Outcome::Failed(error.to_string()),
    };
    let message = match outcome {
        Outcome::Passed => return None,
        Outcome::Updated(text) => fs::write(file, text).err()?.to_string(),
        Outcome::Failed(message) => message,
    };
    Some(format!("{}:\n{message}", file.display()))
}

fn outcome(text: &str, update: bool, run: impl Fn(&Case) -> Result<String, String>) -> Outcome {
    let case = match Case::parse(text) {
        Ok(case) => case,
        Err(error) => return Outcome::Failed(error),
    };
    let found = match run(&case) {
        Ok(found) if found.trim().is_empty() => return Outcome::Failed("the output is empty".to_owned()),
        Ok(found) => format!("{}\n", found.trim_end()),
        Err(error) => return Outcome::Failed(error),
    };
    if let Some(option) = case.unread_options().first() {
        return Outcome::Failed(format!("there is no option `{option}`"));
    }
    match found == case.expected {
        true => Outcome::Passed,
        false if update => Outcome::Updated(case.with_expected(&found)),
        false if case.expected.trim().is_empty() => {
            Outcome::Failed(format!("the case expects nothing; found:\n{found}"))
        }
        false => Outcome::Failed(diff(&case.expected, &found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = "// Says what it shows.
//! mode: fast
etbuild-ir 1 aten
method forward
  input %x: float32[2]
  constant %w: float32[2] = \"w\" [0.5, 2.0]
  %y: float32[2] = aten.mul.Tensor(%x, %w)
  return %y
---
";

    /// Prints the input again, in front of the option.
    fn echo(case: &Case) -> Result<String, String> {
        let mode = case.option("mode").unwrap_or_default().to_owned();
        Ok(case.print(case.dialect(), &case.program()) + &mode)
    }

    fn failed(text: &str) -> String {
        match outcome(text, false, echo) {
            Outcome::Failed(message) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_update_writes_the_output_and_then_the_case_passes() {
        let Outcome::Updated(updated) = outcome(CASE, true, echo) else { panic!("not updated") };
        assert!(updated.starts_with(CASE), "{updated}");
        assert!(updated.ends_with("return %y\nfast\n"), "{updated}");
        assert_eq!(updated.matches("constant %w: float32[2] = \"w\" [0.5, 2.0]\n").count(), 2);
        assert_eq!(outcome(&updated, false, echo), Outcome::Passed);
        assert!(failed(&updated.replace("\nfast", "\nslow")).contains("- slow\n+ fast\n"));
    }

    #[test]
    fn a_case_without_expectation_fails() {
        assert!(failed(CASE).starts_with("the case expects nothing"));
        assert!(failed(CASE.trim_end_matches("---\n")).starts_with("the case expects nothing"));
    }

    #[test]
    fn an_empty_output_fails_even_in_an_update() {
        let outcome = outcome(CASE, true, |_| Ok(String::new()));
        assert_eq!(outcome, Outcome::Failed("the output is empty".to_owned()));
    }

    #[test]
    fn a_case_without_description_fails() {
        assert_eq!(failed(&CASE.replace("// Says what it shows.\n", "")), "the case does not say what it shows");
    }

    #[test]
    fn an_option_that_the_test_does_not_read_fails() {
        assert_eq!(failed(&CASE.replace("//! mode", "//! speed")), "there is no option `speed`");
    }

    #[test]
    fn an_input_that_does_not_verify_fails() {
        assert!(failed(&CASE.replace("mul.Tensor", "mul_.Tensor")).contains("the operator writes in place"));
        assert!(failed(&CASE.replace("(%x, %w)", "(%x, %v)")).contains("`v` is not defined above"));
    }
}
