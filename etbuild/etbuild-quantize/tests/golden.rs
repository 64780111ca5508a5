//! Golden tests: quantized programs by rule (`tests/rules`), by scheme (`tests/schemes`), and with embedding tables
//! (`tests/tables`).
//!
//! Options: `scheme`, `group size` and `embedding` as recipes name them; `operators` and `modules` for exceptions, such as
//! `bmm=int8`; `samples x` for the calibration data of the input `x`.

use std::path::Path;

use et_ops::call::OwnedTensor;
use etbuild_golden::{Case, check};
use etbuild_ir::{Dialect, Lowered, LoweredProgram, Program};
use etbuild_quantize::{Data, Embedding, InMemory, Layer, Options, Scheme, Tensors, quantize};

const SCHEMES: [(&str, Scheme); 12] = [
    ("float", Scheme::Float),
    ("stored", Scheme::Stored),
    ("int8", Scheme::Int8),
    ("dynamic-int8", Scheme::DynamicInt8),
    ("int8-weights", Scheme::Int8Weights),
    ("int4-weights", Scheme::Int4Weights),
    ("8da4w", Scheme::Dynamic8Weight4),
    ("w8a8", Scheme::W8A8),
    ("w8a16", Scheme::W8A16),
    ("w4a16", Scheme::W4A16),
    ("int16x8", Scheme::Int16x8),
    ("int8x4", Scheme::Int8x4),
];

fn scheme(name: &str) -> Result<Scheme, String> {
    let found = SCHEMES.iter().find(|(known, _)| *known == name);
    found.map(|(_, scheme)| *scheme).ok_or_else(|| format!("there is no scheme `{name}`"))
}

/// The exceptions of an option such as `bmm=int8, linear=float`.
fn layers(case: &Case, key: &str, layer: fn(String, Scheme) -> Layer) -> Result<Vec<Layer>, String> {
    let exceptions = case.option(key).into_iter().flat_map(|list| list.split(", "));
    let parse = |exception: &str| {
        let (subject, name) = exception.split_once('=').ok_or_else(|| format!("`{exception}` is not `key=scheme`"))?;
        Ok(layer(subject.to_owned(), scheme(name)?))
    };
    exceptions.map(parse).collect()
}

fn options(case: &Case) -> Result<Options, String> {
    let embedding = match case.option("embedding") {
        None => None,
        Some("4w") => Some(Embedding::Weight4),
        Some("8w") => Some(Embedding::Weight8),
        Some(name) => return Err(format!("there is no embedding form `{name}`")),
    };
    let modules = layers(case, "modules", |name, scheme| Layer { name: Some(name), operator: None, scheme })?;
    let operators = layers(case, "operators", |name, scheme| Layer { name: None, operator: Some(name), scheme })?;
    let default = Options::new(scheme(case.option("scheme").ok_or("the case has no scheme")?)?);
    let layers = modules.into_iter().chain(operators).collect();
    Ok(Options { group_size: case.parsed_option("group size")?, embedding, layers, ..default })
}

/// The calibration data of the inputs that have some.
fn samples(case: &Case, program: &Program) -> Result<Option<Tensors>, String> {
    let mut samples = Tensors::new();
    for graph in program.methods.values() {
        for value in graph.inputs.iter().map(|id| graph.value(*id)) {
            let key = format!("samples {}", value.name);
            let (scalar_type, sizes) = (value.spec.scalar_type, value.spec.sizes.clone());
            if let Some(bytes) = case.literal(&key, scalar_type, value.spec.numel())? {
                samples.insert(value.name.clone(), OwnedTensor { scalar_type, sizes, bytes });
            }
        }
    }
    Ok(Some(samples).filter(|samples| !samples.is_empty()))
}

/// The quantized program, `unchanged`, or the error.
fn run(case: &Case) -> Result<String, String> {
    let program = LoweredProgram::verify(case.program()).map_err(|violations| format!("{violations:?}"))?;
    let (options, samples) = (options(case)?, samples(case, program.program())?);
    Ok(match quantize(program.clone(), &options, Data::samples(samples.as_ref()), &InMemory) {
        Ok(quantized) if quantized == program => "unchanged".to_owned(),
        Ok(quantized) => case.print(Lowered::NAME, quantized.program()),
        Err(error) => format!("error: {error}"),
    })
}

fn check_folder(name: &str) {
    check(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).join(name), run);
}

#[test]
fn every_rule_quantizes_its_operators_as_expected() {
    check_folder("rules");
}

#[test]
fn every_scheme_quantizes_weights_and_activations_as_expected() {
    check_folder("schemes");
}

#[test]
fn embedding_tables_are_quantized_with_the_layers_that_read_them() {
    check_folder("tables");
}
