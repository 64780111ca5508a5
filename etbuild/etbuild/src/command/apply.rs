//! `etbuild apply DEPLOYED`: an update, or the way back.

use std::path::Path;

use et_update::{Applied, Delta, Disk, Place, SystemDisk, apply, confirm, rollback};
use etbuild_delta::public_key;
use etbuild_diagnostic::{Code, Diagnostic, unreadable};

use super::Outcome;
use super::delta::{of_update, refused};
use crate::arguments;
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Apply) -> Outcome {
    let key = arguments.key.as_deref().map(public_key).transpose().map_err(refused)?;
    let deployed = &arguments.deployed;
    let (done, text) = match &arguments.update {
        Some(update) => {
            let delta = open(update)?;
            let place =
                if deployed.is_dir() { Place::folder(deployed, &delta.header.name) } else { Place::file(deployed) };
            match apply(&SystemDisk, &place, delta, key.as_ref()).map_err(|error| vec![of_update(&error)])? {
                Applied::Installed => {
                    ("installed", "the update is installed; `--rollback` returns to the version before")
                }
                Applied::AlreadyInstalled => ("already installed", "the update was installed before"),
            }
        }
        None => {
            let place = updated(deployed)?;
            let act = if arguments.rollback { rollback } else { confirm };
            act(&SystemDisk, &place).map_err(|error| vec![of_update(&error)])?;
            match arguments.rollback {
                true => ("rolled back", "the earlier version is back"),
                false => ("confirmed", "the earlier version is removed"),
            }
        }
    };
    session.terminal.present(&serde_json::json!({ "schema": "etbuild.apply/1", "done": done }), text);
    Ok(Vec::new())
}

fn open(update: &Path) -> Result<Delta, Vec<Diagnostic>> {
    let file = SystemDisk.open(update).and_then(|file| file.ok_or_else(|| std::io::ErrorKind::NotFound.into()));
    let file = file.map_err(|error| vec![unreadable(update, &error)])?;
    Delta::open(file).map_err(|error| vec![of_update(&error)])
}

/// The place of an updated version: the folder of the update has the name of the version.
fn updated(deployed: &Path) -> Result<Place, Vec<Diagnostic>> {
    if !deployed.is_dir() {
        return Ok(Place::file(deployed));
    }
    let found = SystemDisk.list(deployed).map_err(|error| vec![unreadable(deployed, &error)])?;
    let names: Vec<String> =
        found.iter().filter_map(|path| Some(name(path.file_name()?.to_str()?)?.to_owned())).collect();
    match &names[..] {
        [name] => Ok(Place::folder(deployed, name)),
        [] => Err(vec![of_update(&et_update::Error::NoEarlierVersion)]),
        _ => {
            let message = format!("`{}` has several updated versions: {}", deployed.display(), names.join(", "));
            Err(vec![Diagnostic::error(Code::Usage, message).help("name the program file of one of these")])
        }
    }
}

fn name(file: &str) -> Option<&str> {
    file.strip_prefix('.')?.strip_suffix(".update")
}
