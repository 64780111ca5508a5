//! `etbuild apply DEPLOYED`: an update, or the way back.

use et_update::{Applied, Error, outside};
use etbuild_delta::public_key;
use etbuild_diagnostic::{Code, Diagnostic, unreadable};

use super::Outcome;
use super::delta::{of_update, refused};
use crate::arguments;
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Apply) -> Outcome {
    let key = arguments.key.as_deref().map(public_key).transpose().map_err(refused)?;
    let (done, text) = act(arguments, key.as_ref()).map_err(|error| vec![failed(&error)])?;
    session.terminal.succeed("apply", serde_json::json!({ "done": done }), text);
    Ok(Vec::new())
}

fn act(
    arguments: &arguments::Apply,
    key: Option<&et_update::PublicKey>,
) -> Result<(&'static str, &'static str), Error> {
    let deployed = &arguments.deployed;
    Ok(match &arguments.update {
        Some(update) => match outside::apply(deployed, update, key)? {
            Applied::Installed => ("installed", "the update is installed; `--rollback` returns to the version before"),
            Applied::AlreadyInstalled => ("already installed", "the update was installed before"),
        },
        None if arguments.rollback => {
            outside::rollback(deployed)?;
            ("rolled back", "the earlier version is back")
        }
        None => {
            outside::confirm(deployed)?;
            ("confirmed", "the earlier version is removed")
        }
    })
}

fn failed(error: &Error) -> Diagnostic {
    match error {
        Error::SeveralVersions { .. } => Diagnostic::error(Code::Usage, error.to_string()).help(error.hint()),
        Error::File { path, source } if source.kind() == std::io::ErrorKind::NotFound => unreadable(path, source),
        error => of_update(error),
    }
}
