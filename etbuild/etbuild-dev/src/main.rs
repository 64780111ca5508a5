//! `cargo dev`: what the repository checks and generates about itself.

mod arrows;
mod bench;
mod deny;
mod error;
mod features;
mod generate;
mod named_tests;
mod new_backend;
mod new_operator;
mod operators;
mod prefix;
mod tidy;
mod tracked;
mod uncalled;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;

/// Looks after the repository.
#[derive(Parser)]
#[command(name = "cargo dev")]
enum Command {
    /// Checks layering, the shape of files and the callers of kernels; prints every breach.
    Tidy,
    /// Writes the generated files: JSON schemas, the reference of recipe options, the table of operators.
    Generate {
        /// Writes nothing; fails when a file is not what it would write.
        #[arg(long)]
        check: bool,
    },
    /// Checks licenses, sources and names of third-party crates by `deny.toml`.
    Deny,
    /// Checks every feature of device crates without the other features.
    Features,
    /// Runs the benchmarks of `benchmarks.toml` and prints medians beside the stored medians.
    Bench {
        /// A part of the name of a benchmark; every benchmark by default.
        #[arg(default_value = "")]
        part: String,
        /// How often each benchmark runs.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// Stores the new medians.
        #[arg(long)]
        record: bool,
    },
    /// Begins a new part of the repository from its template.
    #[command(subcommand)]
    New(New),
}

/// What has a template.
#[derive(Subcommand)]
enum New {
    /// An operator: its file, and the two lines that make it known.
    Op {
        /// The name of its file and of the operator in ATen, such as `trunc`.
        name: String,
    },
    /// A backend: its two crates, and the lines that make it known.
    Backend {
        /// What recipes call it, such as `cpu`.
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
            let mut findings = arrows::breaches(&packages, &workspace::arrows(&root)?);
            findings.extend(prefix::breaches(&packages));
            findings.extend(tidy::breaches(&root)?);
            findings.extend(named_tests::breaches(&root)?);
            findings.extend(uncalled::breaches(&root, &packages)?);
            Ok(findings)
        }
        Command::Deny => deny::breaches(&root),
        Command::Features => features::breaches(&root, &workspace::packages(&root)?),
        Command::Bench { part, rounds, record } => bench::run(&root, &part, rounds, record),
        Command::Generate { check } => generate::run(&root, check),
        Command::New(New::Op { name }) => new_operator::run(&root, &name),
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
