//! The etbuild command: arguments, query engine, rendered result. The only crate that prints.

mod arguments;
mod attest;
mod command;
mod engines;
mod feature;
mod inspect;
#[cfg(unix)]
mod interrupt;
mod lock;
mod page;
mod perplexity;
mod render;
mod report;
mod repository;
mod session;
mod trace;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Arguments;

fn main() -> ExitCode {
    if let Some(code) = etbuild_qnn::worker() {
        return code;
    }
    match Arguments::try_parse() {
        Ok(arguments) => command::run(&arguments),
        Err(error) => usage(&error),
    }
}

/// Prints clap's output: help and version to stdout with status 0, errors to stderr with status 2.
fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}
