//! `etbuild completions`: a script for a shell.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::Outcome;
use crate::arguments::Arguments;
use crate::session::Session;

pub fn run(session: &Session, shell: Shell) -> Outcome {
    let mut script = Vec::new();
    generate(shell, &mut Arguments::command(), "etbuild", &mut script);
    session.terminal.result(&String::from_utf8_lossy(&script));
    Ok(Vec::new())
}
