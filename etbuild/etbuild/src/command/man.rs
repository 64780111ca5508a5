//! `etbuild man`: manual pages.

use std::path::Path;

use clap::CommandFactory;
use etbuild_diagnostic::{Code, Diagnostic};

use super::Outcome;
use crate::arguments::Arguments;
use crate::session::Session;

pub fn run(session: &Session, folder: &Path) -> Outcome {
    let unwritable = |error: std::io::Error| {
        let message = format!("failed to write manual pages to `{}`: {error}", folder.display());
        vec![Diagnostic::error(Code::OutputUnwritable, message)]
    };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    clap_mangen::generate_to(Arguments::command(), folder).map_err(unwritable)?;
    session.terminal.present(&serde_json::json!({ "folder": folder }), &format!("manual pages: {}", folder.display()));
    Ok(Vec::new())
}
