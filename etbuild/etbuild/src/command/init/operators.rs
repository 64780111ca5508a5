//! A crate for custom operators.

use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic, unwritable};
use etbuild_engine::kernel_crates;

use super::write;
use crate::arguments;
use crate::command::Outcome;
use crate::session::Session;

/// The files of a new crate.
const FILES: &[(&str, &str)] = &[
    (".gitignore", include_str!("../../../../../templates/operators/gitignore")),
    ("Cargo.toml", include_str!("../../../../../templates/operators/manifest.toml")),
    ("README.md", include_str!("../../../../../templates/operators/README.md")),
    (OPERATORS, include_str!("../../../../../templates/operators/operators.yaml")),
    ("src/fused_gate.rs", include_str!("../../../../../examples/custom-operator/my_ops/src/fused_gate.rs")),
    ("src/lib.rs", include_str!("../../../../../templates/operators/src/lib.rs")),
];
/// The file that tells a crate of operators from another folder.
const OPERATORS: &str = "operators.yaml";
/// The folder of the crates that kernels are written with.
const COPIES: &str = "etbuild";

/// Writes a crate; in a crate of operators, renews the copies of our crates only.
pub fn run(session: &Session, arguments: &arguments::Init, folder: &str) -> Outcome {
    if arguments.recipe.is_some() || arguments.triple.is_some() {
        let message = "`init operators` takes a folder, and neither `--recipe` nor `--triple`";
        return Err(vec![Diagnostic::error(Code::Usage, message).help("write `etbuild init operators FOLDER`")]);
    }
    let folder = Path::new(folder);
    let is_new = session.system.stamp(&folder.join(OPERATORS)).is_err();
    if is_new {
        let name = package(session, folder)?;
        FILES
            .iter()
            .try_for_each(|(file, text)| write(session, &folder.join(file), &text.replace("placeholder", &name)))?;
    }
    for (file, bytes) in kernel_crates().map_err(|error| vec![Diagnostic::from(&error)])? {
        let path = folder.join(COPIES).join(file);
        session.system.write(&path, &bytes, false).map_err(|error| vec![unwritable(&path, &error)])?;
    }
    let next = format!("cargo test --manifest-path {}", folder.join("Cargo.toml").display());
    super::present(session, folder, &next);
    Ok(Vec::new())
}

/// The name of the package: that of the folder.
fn package(session: &Session, folder: &Path) -> Result<String, Vec<Diagnostic>> {
    let absolute = std::path::absolute(folder).unwrap_or_default();
    let name = absolute.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let letters = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    let name: String = name.chars().map(letters).collect();
    let is_empty = session.system.list(folder).is_ok_and(|files| files.is_empty());
    if session.system.is_dir(folder) && !is_empty {
        let message = format!("`{}` has files, and is no crate of operators", folder.display());
        return Err(vec![
            Diagnostic::error(Code::OutputUnwritable, message).help("name a folder that does not exist yet"),
        ]);
    }
    if name.starts_with(|first: char| first.is_ascii_lowercase()) { Ok(name) } else { Ok(format!("ops_{name}")) }
}
