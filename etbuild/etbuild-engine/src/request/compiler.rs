//! The vendors' compilers that the backends of a recipe use.

use std::path::PathBuf;

use etbuild_backend::{Compiler, Search};
use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_recipe::Recipe;
use etbuild_store::{Digest, Hasher};
use etbuild_system::Invocation;
use etbuild_yaml::Spanned;

use crate::input::file_digest;
use crate::session::World;

/// The library or program of a compiler on this machine.
fn found(world: &World, compiler: &Compiler) -> Option<PathBuf> {
    let places = compiler.places(|name| world.system().variable(name));
    places.into_iter().find(|path| world.system().stamp(path).is_ok() && !world.system().is_dir(path))
}

/// The digests of the compilers of backends, by the name of the backend.
pub fn digests(world: &World, engines: &[String]) -> Vec<(String, Digest)> {
    let compilers = engines.iter().filter_map(|name| Some((name, world.engine(name)?.compiler()?)));
    compilers.filter_map(|(name, compiler)| Some((name.clone(), digest(world, compiler)?))).collect()
}

/// The digest of a compiler. A program may be a few lines that start the rest of a package, so its version counts too.
fn digest(world: &World, compiler: &Compiler) -> Option<Digest> {
    let path = found(world, compiler)?;
    let file = file_digest::of(world, &path).ok()?;
    if compiler.search != Search::Program {
        return Some(file);
    }
    let invocation = Invocation { arguments: vec!["--version".into()], ..Invocation::new(&path) };
    let version = world.system().run(&invocation).map(|outcome| outcome.stdout).unwrap_or_default();
    let mut hasher = Hasher::default();
    hasher.update(&file.0);
    hasher.update(&version);
    Some(hasher.finish())
}

/// The mistake of a backend that a recipe names, whose compiler is not on this machine.
pub fn missing(world: &World, engine: &Spanned<String>) -> Option<Diagnostic> {
    missing_at(world, &engine.value, &engine.span, "")
}

/// The same for the backends that `partition: auto` stands for on a target.
pub fn missing_by_default(world: &World, recipe: &Recipe, best: &[&str], target: &Spanned<String>) -> Vec<Diagnostic> {
    let engines = recipe.partition.backends(best);
    let named = |engine: &str| recipe.partition.names().iter().any(|name| name.value == engine);
    let or = ", or name other backends: `partition: [cortex-m]`";
    engines
        .iter()
        .filter(|engine| !named(engine))
        .filter_map(|engine| missing_at(world, engine, &target.span, or))
        .collect()
}

fn missing_at(world: &World, engine: &str, span: &Span, or: &str) -> Option<Diagnostic> {
    let compiler = world.engine(engine)?.compiler()?;
    if found(world, compiler).is_some() {
        return None;
    }
    let Compiler { kit, variable, search, file, page } = compiler;
    let message = format!("the backend `{engine}` compiles with {kit}, which is not on this machine");
    let note = match (world.system().variable(variable), search) {
        (Some(folder), Search::Library(_)) => format!("`{variable}` names {folder}, which has no {file}"),
        (Some(program), Search::Program) => format!("`{variable}` names {program}, which is no file"),
        (None, Search::Library(_)) => format!("`{variable}` is not set"),
        (None, Search::Program) => format!("`{variable}` is not set, and no folder of `PATH` has {file}"),
    };
    let diagnostic = Diagnostic::error(Code::ToolMissing, message).at(span.clone()).note(note);
    let what = if *search == Search::Program { "the program" } else { "its folder" };
    Some(diagnostic.help(format!("install the kit and set `{variable}` to {what}: {page}{or}")))
}
