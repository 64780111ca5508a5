//! A target file for a machine of one's own.

use std::path::PathBuf;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_recipe::Name;
use etbuild_target::{Triple, starter};

use super::{present, write};
use crate::arguments;
use crate::command::Outcome;
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Init, name: &str) -> Outcome {
    let name = Name::new(name).ok_or_else(|| vec![no_name(name)])?;
    let triple = match &arguments.triple {
        Some(triple) => Triple::new(triple).map_err(|error| vec![error])?,
        // The name may be the triple itself.
        None => Triple::new(name.as_str()).map_err(|_| vec![no_triple(&name)])?,
    };
    let path = arguments.recipe.clone().unwrap_or_else(|| PathBuf::from(format!("targets/{name}.yaml")));
    write(session, &path, &starter(&name, &triple))?;
    present(session, &path, &format!("etbuild targets show {}", path.display()));
    Ok(Vec::new())
}

fn no_name(name: &str) -> Diagnostic {
    let message = format!("`{name}` cannot be the name of a target");
    Diagnostic::error(Code::Usage, message).help("use letters, digits, `-`, `_` and `.`")
}

fn no_triple(name: &Name) -> Diagnostic {
    let message = "a target is made from the Rust triple of its processor, and none is given";
    let help = format!(
        "write `etbuild init target {name} --triple TRIPLE`, such as `thumbv7em-none-eabihf` for a Cortex-M4F; \
         docs/targets.md lists the triples of processors"
    );
    Diagnostic::error(Code::Usage, message).help(help)
}
