//! Which files of a folder make an adapter.

use std::path::Path;

use etbuild_checkpoint::{ADAPTER_CONFIG, ADAPTER_SHARD, PICKLED_ADAPTER};
use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_system::System;

/// The names of the files that the adapter in `folder` is read from.
pub fn find(system: &dyn System, folder: &Path) -> Result<Vec<String>, Vec<Diagnostic>> {
    let exists = |name: &&str| system.stamp(&folder.join(name)).is_ok();
    let shard = [ADAPTER_SHARD, PICKLED_ADAPTER].into_iter().find(exists).unwrap_or(ADAPTER_SHARD);
    let names = [ADAPTER_CONFIG, shard];
    let missing: Vec<Diagnostic> =
        names.iter().filter(|name| !exists(name)).map(|name| missing(folder, name)).collect();
    if missing.is_empty() { Ok(names.map(str::to_owned).to_vec()) } else { Err(missing) }
}

fn missing(folder: &Path, name: &str) -> Diagnostic {
    let message = format!("the adapter `{}` has no `{name}`", folder.display());
    let help = format!("an adapter is a folder with `{ADAPTER_CONFIG}` and `{ADAPTER_SHARD}`, as PEFT writes it");
    let place = Span::file(folder.display().to_string());
    Diagnostic::error(Code::ModelMalformed, message).at(place).help(help)
}
