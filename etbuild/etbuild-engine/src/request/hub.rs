//! Checkpoints and adapters that a recipe names as the Hugging Face Hub does become folders of this machine.

use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_hub::{Access, HubError, Reference, locate};
use etbuild_recipe::{FilePath, Model, Recipe};

use crate::session::{Event, Revisions, World};

/// Replaces the hub's names of a checkpoint and an adapter by folders of this machine, and downloads missing files.
pub fn located(world: &World, mut recipe: Recipe) -> Result<Recipe, Vec<Diagnostic>> {
    let model = if let Model::Checkpoint(folder) = &mut recipe.model { Some(folder) } else { None };
    let outcomes = model.into_iter().chain(&mut recipe.adapter).map(|file| locate_file(world, file));
    let mistakes: Vec<Diagnostic> = outcomes.filter_map(Result::err).collect();
    if mistakes.is_empty() { Ok(recipe) } else { Err(mistakes) }
}

/// What a path names on the hub, if the path is no path of this machine.
pub fn reference(path: &Path) -> Option<Result<Reference, Diagnostic>> {
    let malformed = |error: etbuild_hub::Malformed| {
        let help = "write `hf:OWNER/NAME`, a file of the repository behind it for GGUF, and `@REVISION` for another than `main`";
        Diagnostic::error(Code::FileMissing, error.to_string()).help(help)
    };
    Some(Reference::parse(path.to_str()?)?.map_err(malformed))
}

fn locate_file(world: &World, file: &mut FilePath) -> Result<(), Diagnostic> {
    let place = |diagnostic: Diagnostic| diagnostic.at((*file.span).clone());
    let Some(reference) = reference(&file.path) else { return Ok(()) };
    let reference = reference.map_err(place)?;
    let commit = match world.revisions() {
        Revisions::Locked(read) if reference.revision.is_none() => read(world.system()).remove(&reference.repository),
        _ => None,
    };
    let reference = commit.map_or_else(|| reference.clone(), |commit| reference.at(&commit));
    let say = |text: String| world.tell(&Event::Said(text));
    let newest = matches!(world.revisions(), Revisions::Newest);
    let access = Access { offline: world.is_offline(), newest, say: &say };
    file.path = locate(world.system(), &reference, access).map_err(|error| place(diagnostic(&error)))?;
    Ok(())
}

fn diagnostic(error: &HubError) -> Diagnostic {
    let of = |code, help: String| Diagnostic::error(code, error.to_string()).help(help);
    match error {
        HubError::Offline(reference) => {
            let fetch = format!("hf download {}", reference.repository);
            of(Code::HubUnreachable, format!("run once without `--offline` and without `HF_HUB_OFFLINE`, or `{fetch}`"))
        }
        HubError::NotBuiltIn(reference) => of(
            Code::FeatureMissing,
            format!(
                "use a released etbuild, or `cargo run --release --features hub --`; `hf download {}` puts the model where \
                 every etbuild finds it",
                reference.repository
            ),
        ),
        HubError::NotFound(_) => {
            of(Code::HubRefused, "check owner, name, file and revision on the model's page".to_owned())
        }
        HubError::Refused { has_token: false, .. } => of(
            Code::HubRefused,
            "check the spelling; a private or gated model needs a token: run `hf auth login`, or set `HF_TOKEN`"
                .to_owned(),
        ),
        HubError::Refused { .. } => {
            of(Code::HubRefused, "accept the licence on the model's page with the account of the token".to_owned())
        }
        HubError::NoWeights { reference, gguf } => match gguf.first() {
            Some(file) => {
                let example = format!("hf:{}/{file}", reference.repository);
                let diagnostic = of(Code::HubRefused, format!("name one of its GGUF files, as in `{example}`"));
                diagnostic.note(format!("GGUF files: {}", gguf.join(", ")))
            }
            None => of(
                Code::HubRefused,
                "name a repository with the model's safetensors, `pytorch_model.bin` or GGUF files".to_owned(),
            ),
        },
        HubError::Unavailable { .. } | HubError::Damaged { .. } => of(
            Code::HubUnreachable,
            "check the network and run the command again: a download goes on where it ended".to_owned(),
        ),
        HubError::NoFolder => of(Code::HubUnreachable, "set `HF_HUB_CACHE` to a folder".to_owned()),
        HubError::Io { source, .. } => {
            let is_full = matches!(source.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded);
            let code = if is_full { Code::DiskFull } else { Code::FileUnreadable };
            of(code, "free space, or set `HF_HUB_CACHE` to a folder that can be written".to_owned())
        }
    }
}
