//! `cargo dev`: what the repository checks and generates about itself.

mod arrows;
mod error;
mod generate;
mod prefix;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

use crate::error::Error;

/// Looks after the repository.
#[derive(Parser)]
#[command(name = "cargo dev")]
enum Command {
    /// Checks layering and the shape of files; prints every breach.
    Tidy,
    /// Writes the generated files: JSON schemas and the reference of recipe options.
    Generate {
        /// Writes nothing; fails when a file is not what it would write.
        #[arg(long)]
        check: bool,
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
            Ok(findings)
        }
        Command::Generate { check } => generate::run(&root, check),
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
    fn generated_files_are_up_to_date() {
        assert_eq!(run(Command::Generate { check: true }).unwrap(), Vec::<String>::new());
    }
}
