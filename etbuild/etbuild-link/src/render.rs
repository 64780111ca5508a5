//! Templates to files: `name.tera` is filled in and becomes `name`, everything else is copied.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tera::{Context, Kwargs, State, Tera};

use crate::embedded::{EmbeddedFile, EmbeddedFolder};
use crate::facts::{
    Console, Counter, EngineFacts, MemoryFacts, MethodFacts, Processor, Program, ProjectFacts, Region, UpdateFacts,
};
use crate::plan::PlanFacts;
use crate::symbol::symbol;
use crate::{LibraryForm, LinkError, OperatorCrate, SelectedKernel, SystemFiles, report};

const SUFFIX: &str = ".tera";

/// The variables of templates.
#[derive(Serialize)]
struct Variables<'a> {
    name: &'a str,
    /// The name as an identifier of C.
    symbol: String,
    stamp: &'a str,
    /// The stamp, and the digest of everything that firmware is made from, as a line of a machine-readable report.
    banner: String,
    method: &'a MethodFacts,
    /// The values and instructions of the method, for firmware.
    plan: PlanFacts,
    kernels: Vec<Kernel<'a>>,
    /// The folders of operators that have the kernels.
    operator_folders: BTreeSet<&'a str>,
    /// The names of the crates of custom operators.
    operator_crates: Vec<&'a str>,
    engines: Vec<Engine<'a>>,
    /// The device crate of each blob of the method, as Rust names the crate.
    delegates: Vec<String>,
    /// The name of the program file beside the binary; absent for an embedded program file.
    program_file: Option<&'a str>,
    memory: Option<&'a MemoryFacts>,
    /// The memory banks of a board.
    banks: Vec<&'a Region>,
    /// The sections that firmware copies to RAM at start, by the names in the linker script.
    copied: &'static [&'static str],
    console: Option<&'a Console>,
    counter: Option<&'a Counter>,
    processor: Option<Processor>,
    cases: usize,
    bench: u32,
    text: bool,
    media: bool,
    vision: bool,
    hearing: bool,
    /// The kinds of the library that is made beside the binary; empty without a library.
    crate_types: &'static [&'static str],
    /// Whether the library has functions for Java.
    java: bool,
    server: bool,
    constrain: bool,
    trace: bool,
    updates: Option<&'a UpdateFacts>,
    /// Whether the project has start code for Android or Windows.
    start: bool,
    /// Whether the library of the project has start code, for Windows.
    library_start: bool,
    /// Whether firmware is compiled for speed.
    speed: bool,
}

#[derive(Serialize)]
struct Kernel<'a> {
    operator: &'a str,
    path: &'a str,
    /// The paths of the types' variants.
    dtypes: Vec<String>,
}

#[derive(Serialize)]
struct Engine<'a> {
    id: &'a str,
    package: &'a str,
    /// The package as Rust names it.
    path: String,
    features: &'a BTreeSet<String>,
    /// Whether the package has `problem()`.
    explains: bool,
    /// Whether the package has `reporting_delegate()`.
    reports: bool,
}

/// The files of `template` with `facts` filled in, and the data that the facts carry.
pub fn render(template: &EmbeddedFolder, facts: &ProjectFacts) -> Result<BTreeMap<String, Vec<u8>>, LinkError> {
    let plan = plan(facts)?;
    let mut files = data(facts, &plan)?;
    let context = Context::from_serialize(&variables(facts, plan)).map_err(|error| failed(&error))?;
    for file in template.files {
        let (path, bytes) = match file.path.strip_suffix(SUFFIX) {
            Some(path) => (path, fill_in(file.bytes, &context)?),
            None => (file.path, file.bytes.to_vec()),
        };
        files.insert(path.to_owned(), bytes);
    }
    Ok(files)
}

/// The files of `template` under their final names, without values: only manifests are rendered, for a program without
/// delegates.
pub fn unfilled(template: &EmbeddedFolder) -> Result<BTreeMap<String, Vec<u8>>, LinkError> {
    let mut context = Context::new();
    context.insert("engines", &Vec::<Engine<'_>>::new());
    context.insert("plan", &PlanFacts::default());
    context.insert("kernels", &["any"]);
    context.insert("operator_folders", &Vec::<&str>::new());
    context.insert("operator_crates", &Vec::<&str>::new());
    context.insert("text", &false);
    context.insert("media", &false);
    context.insert("vision", &false);
    context.insert("hearing", &false);
    context.insert("crate_types", &Vec::<&str>::new());
    context.insert("java", &false);
    context.insert("server", &false);
    context.insert("constrain", &false);
    context.insert("trace", &false);
    context.insert("updates", &false);
    let file = |file: &EmbeddedFile| match file.path.strip_suffix(SUFFIX) {
        Some(path) if path.ends_with("Cargo.toml") => Ok((path.to_owned(), fill_in(file.bytes, &context)?)),
        path => Ok((path.unwrap_or(file.path).to_owned(), file.bytes.to_vec())),
    };
    template.files.iter().map(file).collect()
}

fn variables(facts: &ProjectFacts, plan: PlanFacts) -> Variables<'_> {
    let program_file = match &facts.program {
        Program::Beside(name) => Some(name.as_str()),
        Program::Embedded(_) | Program::Later => None,
    };
    Variables {
        name: &facts.name,
        symbol: symbol(&facts.name),
        stamp: &facts.stamp,
        banner: report::banner(&facts.stamp, facts.board.as_ref().map_or("", |board| &board.build)),
        method: &facts.method,
        plan,
        kernels: facts.kernels.kernels().iter().map(kernel).collect(),
        operator_folders: facts.kernels.kernels().iter().filter_map(SelectedKernel::folder).collect(),
        operator_crates: facts.operators.iter().map(OperatorCrate::name).collect(),
        engines: facts.engines.iter().map(engine).collect(),
        delegates: delegates(facts),
        program_file,
        memory: facts.board.as_ref().map(|board| &board.memory),
        copied: match &facts.board {
            Some(board) if board.memory.copy_program_to.is_some() => &["data", "program"],
            _ => &["data"],
        },
        banks: facts.board.as_ref().map(|board| board.memory.banks()).unwrap_or_default(),
        console: facts.board.as_ref().map(|board| &board.console),
        counter: facts.board.as_ref().and_then(|board| board.counter.as_ref()),
        processor: facts.board.as_ref().map(|board| board.processor),
        cases: facts.board.as_ref().map_or(0, |board| board.verify.cases),
        bench: facts.board.as_ref().map_or(0, |board| board.bench),
        text: facts.text,
        media: facts.media,
        vision: facts.vision,
        hearing: facts.hearing,
        crate_types: facts.library.map_or(&[], LibraryForm::crate_types),
        java: facts.library.is_some_and(LibraryForm::is_for_java),
        server: facts.server,
        constrain: facts.constrain,
        trace: facts.trace,
        updates: facts.updates.as_ref(),
        start: facts.system.is_some(),
        library_start: facts.system == Some(SystemFiles::Windows),
        speed: facts.board.as_ref().is_some_and(|board| board.speed),
    }
}

/// The plan of firmware with a program file.
fn plan(facts: &ProjectFacts) -> Result<PlanFacts, LinkError> {
    match &facts.program {
        Program::Embedded(bytes) if facts.board.is_some() && !bytes.is_empty() => {
            PlanFacts::of(bytes, &facts.method.name)
        }
        _ => Ok(PlanFacts::default()),
    }
}

fn kernel(selected: &SelectedKernel) -> Kernel<'_> {
    let dtypes = selected.dtypes.iter().map(|scalar_type| format!("ScalarType::{scalar_type:?}")).collect();
    Kernel { operator: &selected.operator, path: &selected.path, dtypes }
}

fn engine(facts: &EngineFacts) -> Engine<'_> {
    let path = facts.package.replace('-', "_");
    let EngineFacts { id, package, features, explains, reports } = facts;
    Engine { id, package, path, features, explains: *explains, reports: *reports }
}

/// The device crates of the method's blobs, as Rust names the crates.
fn delegates(facts: &ProjectFacts) -> Vec<String> {
    let path = |id: &String| facts.engines.iter().find(|engine| engine.id == *id).map(|facts| engine(facts).path);
    facts.method.delegates.iter().filter_map(path).collect()
}

/// A template filled in with values of its own.
pub fn fill_in_with(template: &[u8], variables: &impl Serialize) -> Result<Vec<u8>, LinkError> {
    fill_in(template, &Context::from_serialize(variables).map_err(|error| failed(&error))?)
}

fn fill_in(template: &[u8], context: &Context) -> Result<Vec<u8>, LinkError> {
    let text = String::from_utf8_lossy(template);
    let mut tera = Tera::new();
    tera.register_filter("literal", literal);
    tera.register_filter("hex", hex);
    tera.register_filter("json", json);
    tera.render_str(&text, context, false).map(String::into_bytes).map_err(|error| failed(&error))
}

/// Text as a string literal of Rust.
fn literal(text: &str, _: Kwargs, _: &State<'_>) -> String {
    format!("{text:?}")
}

/// Text as a string of JSON and JavaScript.
fn json(text: &str, _: Kwargs, _: &State<'_>) -> String {
    serde_json::Value::from(text).to_string()
}

/// An address or bits, in the notation that Rust and linker scripts share.
fn hex(number: u64, _: Kwargs, _: &State<'_>) -> String {
    format!("{number:#x}")
}

fn failed(error: &tera::Error) -> LinkError {
    LinkError::Template(format!("a template cannot be filled in: {error}"))
}

/// The data files: the program file, or what a board keeps of it and the verification data.
fn data(facts: &ProjectFacts, plan: &PlanFacts) -> Result<BTreeMap<String, Vec<u8>>, LinkError> {
    let mut files = BTreeMap::new();
    if let (Program::Embedded(bytes), None) = (&facts.program, &facts.board) {
        files.insert("data/program.pte".to_owned(), bytes.clone());
    }
    if let Some(board) = &facts.board {
        files.insert("data/program.bin".to_owned(), plan.data.clone());
        let verify = &board.verify;
        check_size("inputs", &verify.inputs, &facts.method.input_bytes, verify.cases)?;
        check_size("outputs", &verify.outputs, &facts.method.output_bytes, verify.cases)?;
        files.insert("data/inputs.bin".to_owned(), verify.inputs.clone());
        files.insert("data/outputs.bin".to_owned(), verify.outputs.clone());
    }
    Ok(files)
}

fn check_size(what: &str, bytes: &[u8], tensors: &[usize], cases: usize) -> Result<(), LinkError> {
    let wanted = tensors.iter().sum::<usize>() * cases;
    if bytes.len() == wanted {
        return Ok(());
    }
    let found = bytes.len();
    Err(LinkError::VerifyData(format!("{cases} cases have {wanted} bytes of {what}, and {found} are given")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undefined_variable_is_an_error() {
        let error = fill_in(b"{{ nothing }}", &Context::new()).unwrap_err().to_string();
        assert!(error.contains("nothing"), "{error}");
    }
}
