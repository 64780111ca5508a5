//! The vendors' compilers that the backends of a recipe load.

use std::path::{Path, PathBuf};

use etbuild_backend::Compiler;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_store::Digest;
use etbuild_yaml::Spanned;

use crate::input::file_digest;
use crate::session::World;

/// The library of a compiler on this machine.
fn library(world: &World, compiler: &Compiler) -> Option<PathBuf> {
    let kit = world.system().variable(compiler.variable)?;
    compiler.places(Path::new(&kit)).find(|path| world.system().stamp(path).is_ok())
}

/// The digests of the compilers of backends, by the name of the backend.
pub fn digests(world: &World, engines: &[String]) -> Vec<(String, Digest)> {
    let compilers = engines.iter().filter_map(|name| Some((name, world.engine(name)?.compiler()?)));
    let found = compilers.filter_map(|(name, compiler)| {
        let digest = file_digest::of(world, &library(world, compiler)?).ok()?;
        Some((name.clone(), digest))
    });
    found.collect()
}

/// The mistake of a backend whose compiler is not on this machine.
pub fn missing(world: &World, engine: &Spanned<String>) -> Option<Diagnostic> {
    let compiler = world.engine(&engine.value)?.compiler()?;
    if library(world, compiler).is_some() {
        return None;
    }
    let Compiler { kit, variable, file, .. } = compiler;
    let message = format!("the backend `{}` compiles with {kit}, which is not on this machine", engine.value);
    let note = match world.system().variable(variable) {
        Some(folder) => format!("`{variable}` names {folder}, which has no {file}"),
        None => format!("`{variable}` is not set"),
    };
    let diagnostic = Diagnostic::error(Code::ToolMissing, message).at((*engine.span).clone()).note(note);
    Some(diagnostic.help(format!("install the kit and set `{variable}` to its folder: docs/npu.md")))
}
