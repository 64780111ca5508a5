//! `etbuild man`: manual pages.

use std::path::Path;

use clap::CommandFactory;
use etbuild_diagnostic::unwritable;

use super::Outcome;
use crate::arguments::Arguments;
use crate::session::Session;

pub fn run(session: &Session, folder: &Path) -> Outcome {
    let refused = |error: std::io::Error| vec![unwritable(folder, &error)];
    std::fs::create_dir_all(folder).map_err(refused)?;
    clap_mangen::generate_to(Arguments::command(), folder).map_err(refused)?;
    session.terminal.succeed(
        "man",
        serde_json::json!({ "folder": folder }),
        &format!("manual pages: {}", folder.display()),
    );
    Ok(Vec::new())
}
