//! The crates of custom operators that a recipe names: what the crates state is read, and nothing of them runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use et_core::{Dtypes, ScalarType};
use etbuild_diagnostic::{Code, Diagnostic, Span, unreadable};
use etbuild_import::CustomSchema;
use etbuild_link::{CustomKernel, OperatorCrate};
use etbuild_recipe::{FilePath, Recipe};
use etbuild_system::System;
use etbuild_yaml::{Source, Spanned, parse, quote, read, read_text};
use serde::Deserialize;

/// The file of a crate with its operators.
pub const OPERATORS: &str = "operators.yaml";
/// The file of a crate with its name.
pub const MANIFEST: &str = "Cargo.toml";
/// The folder of a crate with its sources: the only folder that a build takes.
const SOURCES: &str = "src";

/// The crates of a recipe, and the schemas of all operators.
#[derive(Default)]
pub struct Operators {
    /// The crates in the order of the recipe.
    pub crates: Vec<OperatorCrate>,
    /// The schemas.
    pub schemas: Vec<CustomSchema>,
}

/// An entry of `operators.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    /// The schema, as PyTorch prints the schema of the functional operator.
    schema: Spanned<String>,
    /// The path of the kernel in the crate.
    #[serde(default)]
    kernel: Option<Spanned<String>>,
    /// The dtypes of the kernel's tensors.
    #[serde(default)]
    dtypes: Option<Spanned<Vec<Spanned<String>>>>,
    /// Calls of torch's operators that compute the same, a line each.
    #[serde(default)]
    lowering: Option<Vec<Spanned<String>>>,
}

/// Reads the crates of a recipe.
///
/// # Errors
/// Every mistake in a crate.
pub fn read_crates(system: &dyn System, recipe: &Recipe) -> Result<Operators, Vec<Diagnostic>> {
    let (mut operators, mut mistakes) = (Operators::default(), Vec::new());
    // A missing folder is reported like every missing file.
    for folder in recipe.operators.iter().filter(|folder| system.is_dir(&folder.path)) {
        match read_crate(system, &folder.path) {
            Ok((found, schemas)) => {
                mistakes.extend(twice(&operators, found.as_ref(), &schemas, folder));
                operators.crates.extend(found);
                operators.schemas.extend(schemas);
            }
            Err(found) => mistakes.extend(found),
        }
    }
    if mistakes.is_empty() { Ok(operators) } else { Err(mistakes) }
}

/// A name that two crates share: Cargo and the program file tell crates and operators by name.
fn twice(
    known: &Operators,
    found: Option<&OperatorCrate>,
    schemas: &[CustomSchema],
    folder: &FilePath,
) -> Option<Diagnostic> {
    let same = found.filter(|found| known.crates.iter().any(|other| other.name() == found.name()));
    let package = same.map(|found| format!("two crates of operators are called `{}`", found.name()));
    let defined = |schema: &&CustomSchema| known.schemas.iter().any(|other| other.operator() == schema.operator());
    let operator =
        || schemas.iter().find(defined).map(|schema| format!("two crates define `{}`", schema.operator().qualified()));
    let message = package.or_else(operator)?;
    let diagnostic = Diagnostic::error(Code::OperatorCrate, message).at((*folder.span).clone());
    Some(diagnostic.help("rename one of the two, or leave out one of the two crates"))
}

/// The schemas of a crate, and the crate, if an operator has a kernel: lowerings alone need no sources.
fn read_crate(
    system: &dyn System,
    folder: &Path,
) -> Result<(Option<OperatorCrate>, Vec<CustomSchema>), Vec<Diagnostic>> {
    let path = folder.join(OPERATORS);
    let text = read_text(system, &path).map_err(|_| vec![incomplete(folder, OPERATORS)])?;
    let source = Source::file(path.display().to_string(), text);
    let stated: Vec<Stated> = read(&parse(&source).map_err(|error| vec![error])?)?;
    let (mut schemas, mut kernels, mut mistakes) = (Vec::new(), Vec::new(), Vec::new());
    for entry in stated {
        match operator(&entry) {
            Ok((schema, _)) if schemas.iter().any(|known: &CustomSchema| known.operator() == schema.operator()) => {
                let message = format!("`{}` is stated twice", schema.operator().qualified());
                mistakes.push(Diagnostic::error(Code::OperatorCrate, message).at((*entry.schema.span).clone()));
            }
            Ok((schema, kernel)) => {
                schemas.push(schema);
                kernels.extend(kernel);
            }
            Err(found) => mistakes.push(found),
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    if kernels.is_empty() && !schemas.is_empty() {
        return Ok((None, schemas));
    }
    let path = folder.join(MANIFEST);
    let manifest = read_text(system, &path).map_err(|_| vec![incomplete(folder, MANIFEST)])?;
    let found = OperatorCrate::new(folder, &manifest, sources(system, folder)?, kernels);
    let refused = |message| Diagnostic::error(Code::OperatorCrate, message).at(Span::file(path.display().to_string()));
    Ok((Some(found.map_err(|message| vec![refused(message)])?), schemas))
}

fn operator(stated: &Stated) -> Result<(CustomSchema, Option<CustomKernel>), Diagnostic> {
    let schema = CustomSchema::parse(&stated.schema.value).map_err(|reason| {
        let message = format!("the schema {} {reason}", quote(&stated.schema.value));
        let help =
            "write the schema of the functional operator as PyTorch prints it: `torch.ops.mylib.my_op.default._schema`";
        Diagnostic::error(Code::OperatorCrate, message).at((*stated.schema.span).clone()).help(help)
    })?;
    let kernel = kernel(stated, &schema)?;
    let Some(lines) = &stated.lowering else { return Ok((schema, kernel)) };
    let written = lines.iter().map(|line| line.value.clone()).collect();
    let lowered = schema.lowered(written, kernel.is_some()).map_err(|mistake| {
        let place = lines.get(mistake.line).or(lines.last()).map_or(&stated.schema.span, |line| &line.span);
        let help = "a line is a call such as `y = aten::mul.Tensor(x, gate)`, and the last one begins with `return`";
        Diagnostic::error(Code::OperatorCrate, mistake.reason).at((**place).clone()).help(help)
    })?;
    Ok((lowered, kernel))
}

/// The kernel, which an operator without a lowering needs.
fn kernel(stated: &Stated, schema: &CustomSchema) -> Result<Option<CustomKernel>, Diagnostic> {
    let refused = |message: String| Diagnostic::error(Code::OperatorCrate, message).at((*stated.schema.span).clone());
    match (&stated.kernel, &stated.dtypes) {
        (Some(kernel), Some(types)) => Ok(Some(CustomKernel {
            operator: schema.operator().out_variant(),
            path: kernel_path(kernel)?,
            dtypes: dtypes(types)?,
        })),
        (None, None) if stated.lowering.is_some() => Ok(None),
        (None, None) => Err(refused(format!("`{}` has neither a kernel nor a lowering", schema.operator().qualified()))
            .help("name the function with `kernel:` and its `dtypes:`, or write the calls that it stands for under `lowering:`")),
        (Some(_), None) => Err(refused(format!("the kernel of `{}` has no `dtypes`", schema.operator().qualified()))
            .help("list the dtypes of the kernel's tensors: `dtypes: [float32]`")),
        (None, Some(_)) => Err(refused(format!("`{}` has `dtypes` and no `kernel`", schema.operator().qualified()))
            .help("name the function with `kernel:`, such as `fused_gate::out`, or leave `dtypes` out")),
    }
}

/// The path as written: words of Rust between `::`.
fn kernel_path(stated: &Spanned<String>) -> Result<String, Diagnostic> {
    let is_word = |word: &str| {
        let letters = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') && word.chars().all(letters)
    };
    if stated.value.split("::").all(is_word) {
        return Ok(stated.value.clone());
    }
    let message = format!("{} is no path of a function", quote(&stated.value));
    let diagnostic = Diagnostic::error(Code::OperatorCrate, message).at((*stated.span).clone());
    Err(diagnostic.help("write the path of the kernel in the crate, such as `fused_gate::out`"))
}

fn dtypes(stated: &Spanned<Vec<Spanned<String>>>) -> Result<Dtypes, Diagnostic> {
    let refused = |message: String, span: &Span| {
        let names: Vec<&str> = Dtypes::STORED.iter().map(ScalarType::name).collect();
        let diagnostic = Diagnostic::error(Code::OperatorCrate, message).at(span.clone());
        diagnostic.help(format!("name dtypes of the operator's tensors: {}", names.join(", ")))
    };
    let mut dtypes = Dtypes::NONE;
    for name in &stated.value {
        let found = Dtypes::STORED.iter().find(|scalar_type| scalar_type.name() == name.value);
        let found = found.ok_or_else(|| refused(format!("{} is no dtype", quote(&name.value)), &name.span))?;
        dtypes = dtypes.with(found);
    }
    if dtypes == Dtypes::NONE { Err(refused("the operator has no dtype".to_owned(), &stated.span)) } else { Ok(dtypes) }
}

/// The files below `src`, by path below the crate.
fn sources(system: &dyn System, folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, Vec<Diagnostic>> {
    if system.stamp(&folder.join(SOURCES).join("lib.rs")).is_err() {
        return Err(vec![incomplete(folder, "src/lib.rs")]);
    }
    let (mut files, mut open) = (BTreeMap::new(), vec![PathBuf::from(SOURCES)]);
    while let Some(place) = open.pop() {
        let path = folder.join(&place);
        let failed = |error: std::io::Error| vec![unreadable(&path, &error)];
        if !system.is_dir(&path) {
            files.insert(place.to_string_lossy().replace('\\', "/"), system.read(&path).map_err(failed)?);
            continue;
        }
        let entries = system.list(&path).map_err(failed)?;
        let visible = entries
            .iter()
            .filter_map(|entry| entry.file_name())
            .filter(|name| !name.as_encoded_bytes().starts_with(b"."));
        open.extend(visible.map(|name| place.join(name)));
    }
    Ok(files)
}

fn incomplete(folder: &Path, file: &str) -> Diagnostic {
    let message = format!("`{}` is no crate of operators: it has no readable `{file}`", folder.display());
    let diagnostic = Diagnostic::error(Code::OperatorCrate, message).at(Span::file(folder.display().to_string()));
    diagnostic.help("`etbuild init operators FOLDER` writes a crate to start from")
}
