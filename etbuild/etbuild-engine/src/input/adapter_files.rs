//! Which files of a folder make an adapter.

use std::path::Path;

use etbuild_checkpoint::{ADAPTER_CONFIG, ADAPTER_SHARD};
use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_system::System;

/// The tensors in PEFT's old format: a pickle, which would run code inside.
const PICKLED: &str = "adapter_model.bin";

/// The names of the files that the adapter in `folder` is read from.
pub fn find(system: &dyn System, folder: &Path) -> Result<Vec<String>, Vec<Diagnostic>> {
    let exists = |name: &&str| system.stamp(&folder.join(name)).is_ok();
    let names = [ADAPTER_CONFIG, ADAPTER_SHARD];
    let is_pickled = exists(&PICKLED);
    let missing: Vec<Diagnostic> =
        names.iter().filter(|name| !exists(name)).map(|name| missing(folder, name, is_pickled)).collect();
    if missing.is_empty() { Ok(names.map(str::to_owned).to_vec()) } else { Err(missing) }
}

fn missing(folder: &Path, name: &str, is_pickled: bool) -> Diagnostic {
    let message = format!("the adapter `{}` has no `{name}`", folder.display());
    let at = |code| Diagnostic::error(code, message.clone()).at(Span::file(folder.display().to_string()));
    if name == ADAPTER_SHARD && is_pickled {
        let note = format!("`{PICKLED}` is a pickle, which is code and is not run");
        let help = "load the adapter with PEFT and save it again: `save_pretrained(FOLDER, safe_serialization=True)`";
        return at(Code::ModelUnsupported).note(note).help(help);
    }
    let help = format!("an adapter is a folder with `{ADAPTER_CONFIG}` and `{ADAPTER_SHARD}`, as PEFT writes it");
    at(Code::ModelMalformed).help(help)
}
