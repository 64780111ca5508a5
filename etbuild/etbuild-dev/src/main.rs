//! `cargo dev`: checks, generated files and templates of the repository.

mod arrows;
mod bench;
mod deny;
mod error;
mod features;
mod generate;
mod glossary;
mod keyed;
mod modules;
mod named_tests;
mod new_backend;
mod new_operator;
mod operators;
mod prefix;
mod prose;
mod tidy;
mod tracked;
mod uncalled;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;

/// Check and generate files of the repository.
#[derive(Parser)]
#[command(name = "cargo dev")]
enum Command {
    /// Check allowed dependencies, the shape of files, callers of kernels, and the vocabulary of prose.
    Tidy,
    /// Write the generated files: JSON schemas, recipe reference, operator table, diagnostics, glossary.
    Generate {
        /// Write nothing, and fail if a file is out of date.
        #[arg(long)]
        check: bool,
    },
    /// Check licenses, sources and names of third-party crates by `deny.toml`.
    Deny,
    /// Check every feature of each device crate without further features.
    Features,
    /// Run the benchmarks of `benchmarks.toml` and print medians beside the stored medians.
    Bench {
        /// A part of the name of a benchmark; every benchmark by default.
        #[arg(default_value = "")]
        part: String,
        /// Number of runs of each benchmark.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// Store the new medians.
        #[arg(long)]
        record: bool,
    },
    /// Create a part of the repository from its template.
    #[command(subcommand)]
    New(New),
}

/// The parts with a template.
#[derive(Subcommand)]
enum New {
    /// Create an operator: a file and two lines.
    Op {
        /// The folder of similar operators, such as `elementwise`.
        folder: String,
        /// The operator's name in ATen, such as `trunc`.
        name: String,
    },
    /// Create a backend: two crates and their registration.
    Backend {
        /// The backend's name in recipes, such as `cpu`.
        name: String,
    },
}

#[expect(clippy::print_stderr, reason = "the edge of a command")]
fn main() -> ExitCode {
    match run(Command::parse()) {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => {
            findings.iter().for_each(|finding| eprintln!("{finding}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<Vec<String>, Error> {
    let root = workspace::root();
    match command {
        Command::Tidy => {
            let packages = workspace::packages(&root)?;
            let table = workspace::arrows(&root)?;
            let mut findings = arrows::breaches(&packages, &table);
            findings.extend(modules::breaches(&root, &packages, &table)?);
            findings.extend(keyed::breaches(&root)?);
            findings.extend(prefix::breaches(&packages));
            findings.extend(tidy::breaches(&root)?);
            findings.extend(named_tests::breaches(&root)?);
            findings.extend(uncalled::breaches(&root, &packages)?);
            findings.extend(glossary::breaches(&root)?);
            Ok(findings)
        }
        Command::Deny => deny::breaches(&root),
        Command::Features => features::breaches(&root, &workspace::packages(&root)?),
        Command::Bench { part, rounds, record } => bench::run(&root, &part, rounds, record),
        Command::Generate { check } => generate::run(&root, check),
        Command::New(New::Op { folder, name }) => new_operator::run(&root, &folder, &name),
        Command::New(New::Backend { name }) => new_backend::run(&root, &name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        assert_eq!(run(Command::Tidy).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn every_feature_of_a_device_crate_compiles_alone() {
        assert_eq!(run(Command::Features).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn third_party_crates_are_allowed() {
        assert_eq!(run(Command::Deny).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn generated_files_are_up_to_date() {
        assert_eq!(run(Command::Generate { check: true }).unwrap(), Vec::<String>::new());
    }
}
