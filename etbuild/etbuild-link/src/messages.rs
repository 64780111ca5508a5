//! The messages of cargo about a build.

use std::path::PathBuf;

use cargo_metadata::diagnostic::DiagnosticLevel;
use cargo_metadata::{Message, TargetKind};
use etbuild_system::Outcome;

use crate::LinkError;
use crate::error::DISK_FULL;

/// The results of a build.
#[derive(Debug)]
pub struct Made {
    /// The executable; `None` for a target without a linker.
    pub executable: Option<PathBuf>,
    /// The static library, for a project with a library.
    pub library: Option<PathBuf>,
    /// The shared library, for a project with one.
    pub shared: Option<PathBuf>,
}

/// A package that cargo has compiled, or found compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The package's name.
    pub package: String,
    /// Whether an earlier build had compiled the package.
    pub is_fresh: bool,
}

/// The package of a message of cargo; `None` for other messages, and for build scripts.
pub fn compiled(line: &str) -> Option<Compiled> {
    let Message::CompilerArtifact(artifact) = Message::parse_stream(line.as_bytes()).next()?.ok()? else { return None };
    let is_script = artifact.target.is_kind(TargetKind::CustomBuild);
    let package = || Compiled { package: artifact.target.name.replace('_', "-"), is_fresh: artifact.fresh };
    (!is_script).then(package)
}

/// The results of a successful build, or the failure.
pub fn made(outcome: &Outcome) -> Result<Made, LinkError> {
    let messages: Vec<Message> = Message::parse_stream(outcome.stdout.as_slice()).map_while(Result::ok).collect();
    let artifacts = || {
        messages.iter().filter_map(|message| match message {
            Message::CompilerArtifact(artifact) => Some(artifact),
            _ => None,
        })
    };
    let binary = artifacts().find_map(|artifact| Some((artifact.executable.as_ref()?, &artifact.package_id)));
    let executable = binary.map(|(executable, _)| executable);
    // A crate of a registry may be a library for C besides. Without a binary, cargo's last package is the project.
    let own = binary.map(|(_, own)| own).or_else(|| artifacts().next_back().map(|artifact| &artifact.package_id));
    let is_own = |package| own == Some(package);
    let kinds = [TargetKind::StaticLib, TargetKind::CDyLib];
    let libraries = artifacts().filter(|artifact| kinds.iter().any(|kind| artifact.target.is_kind(kind.clone())));
    let libraries = libraries.filter(|artifact| is_own(&artifact.package_id));
    let files: Vec<_> = libraries.flat_map(|artifact| &artifact.filenames).collect();
    let library = |ending: &str| {
        files.iter().find(|file| file.extension() == Some(ending)).map(|file| file.as_std_path().to_owned())
    };
    let executable = executable.map(|path| path.as_std_path().to_owned());
    let made = Made { executable, library: library("a"), shared: ["so", "wasm", "dll"].into_iter().find_map(library) };
    let is_made = outcome.success() && (made.executable.is_some() || made.library.is_some());
    if is_made { Ok(made) } else { Err(failure(&messages, outcome)) }
}

fn failure(messages: &[Message], outcome: &Outcome) -> LinkError {
    let errors: String = messages.iter().filter_map(error).collect();
    let said = String::from_utf8_lossy(&outcome.stderr);
    if outcome.status.is_none() || said.contains("(signal: ") || (errors.clone() + &said).contains(DISK_FULL) {
        return LinkError::Stopped(errors + said.trim());
    }
    let text = if errors.is_empty() { said.trim().to_owned() } else { errors };
    overflow(&text)
        .unwrap_or_else(|| if text.contains("linking with") { LinkError::Link(text) } else { LinkError::Compile(text) })
}

fn error(message: &Message) -> Option<&str> {
    match message {
        Message::CompilerMessage(message) if message.message.level == DiagnosticLevel::Error => {
            message.message.rendered.as_deref()
        }
        _ => None,
    }
}

/// The largest of lld's `section '.x' will not fit in region 'flash': overflowed by 123 bytes`.
fn overflow(text: &str) -> Option<LinkError> {
    let overflows = text.lines().filter_map(|line| {
        let (_, rest) = line.split_once("will not fit in region '")?;
        let (bank, rest) = rest.split_once("': overflowed by ")?;
        let excess = rest.split_once(' ')?.0.parse().ok()?;
        Some((excess, bank.to_owned()))
    });
    overflows.max().map(|(excess, bank)| LinkError::BankTooSmall { bank, excess })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(stdout: &str, stderr: &str) -> LinkError {
        let (stdout, stderr) = (stdout.as_bytes().to_vec(), stderr.as_bytes().to_vec());
        made(&Outcome { status: Some(101), timed_out: false, stdout, stderr }).unwrap_err()
    }

    /// A message about a crate with static and shared libraries, or with an executable.
    fn artifact(package: &str, kinds: &str, files: &str, executable: &str) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","package_id":"{package}","manifest_path":"/p/Cargo.toml","target":{{"kind":[{kinds}],"crate_types":[{kinds}],"name":"a","src_path":"/p/src/lib.rs","edition":"2024","doc":true,"doctest":true,"test":true}},"profile":{{"opt_level":"3","debuginfo":0,"debug_assertions":false,"overflow_checks":false,"test":false}},"features":[],"filenames":[{files}],"executable":{executable},"fresh":false}}"#
        ) + "\n"
    }

    #[test]
    fn libraries_are_those_of_the_package_with_the_executable() {
        let other = artifact("other", r#""staticlib","cdylib""#, r#""/t/libother.a","/t/libother.so""#, "null");
        let own = artifact("own", r#""staticlib""#, r#""/t/libown.a""#, "null");
        let binary = artifact("own", r#""bin""#, r#""/t/own""#, r#""/t/own""#);
        let made = |stdout: String| {
            made(&Outcome { status: Some(0), timed_out: false, stdout: stdout.into_bytes(), stderr: Vec::new() })
                .unwrap()
        };
        let both = made(other.clone() + &own + &binary);
        assert_eq!((both.library, both.shared), (Some("/t/libown.a".into()), None));
        assert_eq!(made(other.clone() + &binary).library, None);
        let alone = made(other + &own);
        assert_eq!((alone.executable, alone.library), (None, Some("/t/libown.a".into())));
    }

    #[test]
    fn the_bank_that_is_too_small_is_named_with_the_largest_excess() {
        let error = failed(
            "",
            "error: linking with `rust-lld` failed\n\
             rust-lld: error: section '.program' will not fit in region 'flash': overflowed by 12 bytes\n\
             rust-lld: error: section '.verify' will not fit in region 'flash': overflowed by 512 bytes\n",
        );
        assert!(matches!(error, LinkError::BankTooSmall { bank, excess: 512 } if bank == "flash"));
    }

    #[test]
    fn a_message_about_a_package_names_it() {
        let message = r#"{"reason":"compiler-artifact","package_id":"path+file:///p/crates/et-ops#0.1.0","manifest_path":"/p/Cargo.toml","target":{"kind":["lib"],"crate_types":["lib"],"name":"et_ops","src_path":"/p/src/lib.rs","edition":"2024","doc":true,"doctest":true,"test":true},"profile":{"opt_level":"3","debuginfo":0,"debug_assertions":false,"overflow_checks":false,"test":false},"features":[],"filenames":["/t/libet_ops.rlib"],"executable":null,"fresh":false}"#;
        assert_eq!(compiled(message), Some(Compiled { package: "et-ops".to_owned(), is_fresh: false }));
        assert_eq!(compiled(&message.replace("[\"lib\"],\"crate", "[\"custom-build\"],\"crate")), None);
        assert_eq!(compiled(r#"{"reason":"build-finished","success":true}"#), None);
        assert_eq!(compiled("warning: text"), None);
    }

    #[test]
    fn what_the_machine_did_is_no_fault_of_the_project() {
        for text in ["error: write: No space left on device (os error 28)", "(signal: 9, SIGKILL: kill)"] {
            assert!(failed("", text).is_transient(), "{text}");
        }
    }

    #[test]
    fn what_cargo_itself_says_is_kept() {
        let error = failed("", "error: no matching package named `serde` found\n");
        assert!(matches!(error, LinkError::Compile(text) if text == "error: no matching package named `serde` found"));
    }
}
