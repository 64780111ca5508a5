//! `etbuild completions`: a script for a shell.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::Outcome;
use crate::arguments::Arguments;

pub fn run(shell: Shell) -> Outcome {
    generate(shell, &mut Arguments::command(), "etbuild", &mut std::io::stdout());
    Ok(Vec::new())
}
