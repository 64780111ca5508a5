//! `etbuild bundle make`.

use std::path::Path;

use et_format::ProgramFile;
use etbuild_delta::{BundleSource, Bundled, Error, make_bundle, secret_key, version_files};
use etbuild_diagnostic::{Code, Diagnostic, Span, unwritable};
use etbuild_target::{Catalogue, Npu, Target};
use etbuild_yaml::Spanned;

use crate::command::Outcome;
use crate::command::delta::refused;
use crate::session::Session;

pub fn run(session: &Session, folders: &[impl AsRef<Path>], out: &Path, key: Option<&Path>) -> Outcome {
    let key = key.map(secret_key).transpose().map_err(refused)?;
    let catalogue = catalogue(session)?;
    let sources = folders.iter().map(|folder| source(&catalogue, folder.as_ref())).collect::<Result<Vec<_>, _>>()?;
    distinct(&sources)?;
    let count = sources.len();
    let made = make_bundle(sources, out, key.as_ref()).map_err(|error| match error {
        Error::File { path, source } if path == out => vec![unwritable(&path, &source)],
        other => no_bundle(other),
    })?;
    let Bundled { size, whole, shared } = made;
    let public = key.map(|key| key.public().to_string());
    let value = serde_json::json!({
        "file": out, "size": size, "whole": whole, "shared": shared, "targets": count, "key": public,
    });
    let share = size as f64 * 100.0 / whole.max(1) as f64;
    let signed =
        public.map(|key| format!("\nsigned; devices check the signature with the key {key}")).unwrap_or_default();
    let text = format!(
        "{}: {size} bytes, {share:.1} % of the {whole} bytes of {count} targets; {shared} bytes are shared{signed}",
        out.display()
    );
    session.terminal.succeed("chips-make", value, &text);
    Ok(Vec::new())
}

/// Refuses two folders for one target, of which a device could take only one.
fn distinct(sources: &[BundleSource]) -> Result<(), Vec<Diagnostic>> {
    let earlier = |position: usize| sources.iter().take(position).map(|source| &source.target);
    let repeated =
        sources.iter().enumerate().find(|(position, source)| earlier(*position).any(|it| *it == source.target));
    repeated.map_or(Ok(()), |(_, source)| {
        let problem = format!("several folders are for the target `{}`", source.target);
        Err(vec![Diagnostic::error(Code::Usage, problem).help(FOLDERS)])
    })
}

/// The targets of etbuild, those beside recipes, and the files of `--target`.
fn catalogue(session: &Session) -> Result<Catalogue, Vec<Diagnostic>> {
    let mut catalogue = Catalogue::shipped()?;
    catalogue.add_folder(&*session.system, Path::new("recipes/targets"))?;
    let files = session.global.targets.iter().map(Path::new);
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "yaml")) {
        catalogue.add_file(&*session.system, file)?;
    }
    Ok(catalogue)
}

/// What a bundle is made of.
const FOLDERS: &str = "name folders that `etbuild deploy` wrote for one model, such as `out/digits/linux-x86_64`";

/// The diagnostic of folders that make no bundle.
fn no_bundle(error: Error) -> Vec<Diagnostic> {
    match error {
        Error::NoPair(problem) => vec![Diagnostic::error(Code::Usage, problem).help(FOLDERS)],
        other => refused(other),
    }
}

fn source(catalogue: &Catalogue, folder: &Path) -> Result<BundleSource, Vec<Diagnostic>> {
    let shown = folder.display();
    if !folder.is_dir() {
        let problem = if folder.exists() { "is a file, and no folder" } else { "does not exist" };
        return Err(vec![Diagnostic::error(Code::Usage, format!("`{shown}` {problem}")).help(FOLDERS)]);
    }
    // `.` and `..` have no name of their own.
    let whole =
        if folder.file_name().is_none() { folder.canonicalize().unwrap_or_default() } else { folder.to_owned() };
    let name = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let named = Spanned::new(name.clone(), Span::command_line(&shown.to_string()));
    let target = catalogue.find(&named).map_err(|_| {
        let problem = format!("`{name}`, the name of the folder `{shown}`, is no target");
        vec![
            Diagnostic::error(Code::UnknownTarget, problem)
                .help(format!("{FOLDERS}; `--target FILE.yaml` names a target of your own")),
        ]
    })?;
    let chip = chip(target, folder).map_err(no_bundle)?;
    Ok(BundleSource {
        folder: folder.to_owned(),
        target: name,
        platform: platform(&target.rust().triple.to_string()),
        chip,
        instruction_sets: target.instruction_sets().to_vec(),
    })
}

/// The chip of the target, for a version with a program that only its NPU runs. The program inside a binary is not looked at.
fn chip(target: &Target, folder: &Path) -> Result<Option<String>, Error> {
    let Some(Npu::Qualcomm(npu)) = target.npu() else { return Ok(None) };
    let mut programs = version_files(folder)?;
    programs.retain(|file| file.name.ends_with(".pte"));
    let is_bound = programs.is_empty() || programs.iter().any(|file| has_npu(&file.bytes).unwrap_or(true));
    Ok(is_bound.then(|| npu.soc.as_str().to_owned()))
}

/// Whether a method has a delegate of the NPU.
fn has_npu(program: &[u8]) -> et_core::Result<bool> {
    for plan in ProgramFile::parse(program)?.program().execution_plans()?.iter() {
        for delegate in plan?.delegates()?.iter() {
            if delegate?.id()? == et_qnn::ID {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The processor and the operating system of a triple, as Rust's standard library names both.
fn platform(triple: &str) -> String {
    let words: Vec<&str> = triple.split('-').collect();
    let processor = match words.first().copied().unwrap_or_default() {
        word if word.starts_with("riscv64") => "riscv64",
        word if word.starts_with("arm") || word.starts_with("thumb") => "arm",
        "i686" => "x86",
        word => word,
    };
    let systems = ["android", "linux", "windows", "darwin", "ios"];
    let has = |system: &&&str| words.iter().any(|word| word.starts_with(**system));
    let system = match systems.iter().find(has).copied() {
        Some("darwin") => "macos",
        Some(system) => system,
        None => "none",
    };
    format!("{processor}-{system}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triple_tells_the_platform() {
        let known = [
            ("x86_64-unknown-linux-gnu", "x86_64-linux"),
            ("aarch64-linux-android", "aarch64-android"),
            ("x86_64-pc-windows-gnullvm", "x86_64-windows"),
            ("armv7-unknown-linux-musleabihf", "arm-linux"),
            ("riscv64gc-unknown-linux-gnu", "riscv64-linux"),
            ("thumbv7em-none-eabihf", "arm-none"),
        ];
        for (triple, expected) in known {
            assert_eq!(platform(triple), expected);
        }
    }
}
