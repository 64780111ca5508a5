//! `etbuild delta OLD NEW`: an update over the air.

use etbuild_delta::{Error, Made, make, secret_key};
use etbuild_diagnostic::{Code, Diagnostic, unreadable, unwritable};

use super::Outcome;
use crate::arguments;
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Delta) -> Outcome {
    let key = arguments.key.as_deref().map(secret_key).transpose().map_err(refused)?;
    let made = make(&arguments.old, &arguments.new, &arguments.file, key.as_ref());
    let made = made.map_err(|error| match error {
        Error::File { path, source } if path == arguments.file => vec![unwritable(&path, &source)],
        other => refused(other),
    })?;
    let Made { size, new_size, same, changed, files } = made;
    let public = key.map(|key| key.public().to_string());
    let value = serde_json::json!({
        "file": arguments.file, "size": size, "new_size": new_size, "same": same, "changed": changed,
        "files": files, "key": public,
    });
    let share = size as f64 * 100.0 / new_size.max(1) as f64;
    let signed =
        public.map(|key| format!("\nsigned; devices check the signature with the key {key}")).unwrap_or_default();
    let text = format!(
        "{}: {size} bytes, {share:.2} % of the {new_size} bytes of the new version; {files} files change{signed}",
        arguments.file.display()
    );
    session.terminal.succeed("delta", value, &text);
    Ok(Vec::new())
}

/// The diagnostic of a failure.
pub fn refused(error: Error) -> Vec<Diagnostic> {
    vec![match error {
        Error::File { path, source } => unreadable(&path, &source),
        Error::NoPair(problem) => {
            Diagnostic::error(Code::Usage, problem).help("name two folders of results, two program files or two binaries")
        }
        Error::Key(problem) => Diagnostic::error(Code::UpdateSignature, problem)
            .help("`openssl genpkey -algorithm ed25519 -out update.pem` makes a secret key, and `etbuild delta --key` prints its public key"),
        Error::Update(error) => of_update(&error),
    }]
}

/// The diagnostic of a failure that devices have too.
pub fn of_update(error: &et_update::Error) -> Diagnostic {
    let code = Code::TABLE.iter().find(|info| info.id == error.code()).map_or(Code::Internal, |info| info.code);
    Diagnostic::error(code, error.to_string()).help(error.hint())
}
