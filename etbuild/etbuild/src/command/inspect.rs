//! `etbuild inspect`: what a program file holds.

use std::collections::BTreeMap;
use std::path::Path;

use et_core::Error;
use et_format::{EValue, ExecutionPlan, Instruction, Kind, ProgramFile};
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_engine::PRODUCER_KEY;
use serde::Serialize;

use super::Outcome;
use crate::arguments;
use crate::render::{Table, bytes};
use crate::session::Session;

/// How many tensors are listed by size.
const LARGEST: usize = 5;

/// A program file, described.
#[derive(Serialize)]
struct Description {
    size: usize,
    producer: Option<String>,
    segments: Vec<u64>,
    methods: Vec<Method>,
}

#[derive(Serialize)]
struct Method {
    name: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    arenas: Vec<u64>,
    values: usize,
    delegates: Vec<String>,
    operators: BTreeMap<String, usize>,
    largest: Vec<(String, u64)>,
}

pub fn run(session: &Session, arguments: &arguments::Inspect) -> Outcome {
    let file = &arguments.file;
    let bytes = session.system.read(file).map_err(|error| {
        vec![Diagnostic::error(Code::FileUnreadable, format!("`{}` cannot be read: {error}", file.display()))]
    })?;
    let description = describe(&bytes).map_err(|error| vec![malformed(file, error)])?;
    let value = serde_json::to_value(&description).unwrap_or_default();
    session.terminal.present(&value, &text(&description));
    Ok(Vec::new())
}

fn malformed(file: &Path, error: Error) -> Diagnostic {
    let message = format!("`{}` is not a program file: {error}", file.display());
    Diagnostic::error(Code::ProgramFileMalformed, message)
}

fn describe(bytes: &[u8]) -> et_core::Result<Description> {
    let file = ProgramFile::parse(bytes)?;
    let program = file.program();
    let producer = file.named_data(PRODUCER_KEY).ok().map(|text| String::from_utf8_lossy(text).into_owned());
    let segments = program.segments()?.iter().map(|segment| segment?.size()).collect::<et_core::Result<_>>()?;
    let methods = program.execution_plans()?.iter().map(|plan| method(plan?)).collect::<et_core::Result<_>>()?;
    Ok(Description { size: bytes.len(), producer, segments, methods })
}

fn method(plan: ExecutionPlan<'_>) -> et_core::Result<Method> {
    let names = operator_names(plan)?;
    let mut operators = BTreeMap::new();
    for chain in plan.chains()?.iter() {
        let chain = chain?;
        for index in 0..chain.instruction_count()? {
            if let Instruction::KernelCall { operator, .. } = chain.instruction(index)? {
                let name = names.get(operator as usize).ok_or(Error::InvalidProgram)?;
                *operators.entry(name.clone()).or_insert(0) += 1;
            }
        }
    }
    let kinds = |slots: et_core::Indices<'_>| slots.iter().map(|slot| value_type(plan, slot)).collect();
    Ok(Method {
        name: plan.name()?.to_owned(),
        inputs: kinds(plan.inputs()?),
        outputs: kinds(plan.outputs()?),
        arenas: plan.arena_sizes()?.iter().skip(1).map(|size| size as u64).collect(),
        values: plan.values()?.len(),
        delegates: plan
            .delegates()?
            .iter()
            .map(|delegate| Ok(delegate?.id()?.to_owned()))
            .collect::<et_core::Result<_>>()?,
        operators,
        largest: largest(plan)?,
    })
}

fn operator_names(plan: ExecutionPlan<'_>) -> et_core::Result<Vec<String>> {
    let name = |operator: et_format::Operator<'_>| {
        let (name, overload) = (operator.name()?, operator.overload()?);
        Ok(if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") })
    };
    plan.operators()?.iter().map(|operator| name(operator?)).collect()
}

/// `float32[1, 10]`, or the kind of a value that is no tensor.
fn value_type(plan: ExecutionPlan<'_>, slot: i32) -> String {
    let tensor = usize::try_from(slot).ok().and_then(|slot| plan.tensor(slot).ok());
    let described = tensor.and_then(|tensor| tensor_type(tensor).ok());
    described.unwrap_or_else(|| "number".to_owned())
}

fn tensor_type(tensor: et_format::Tensor<'_>) -> et_core::Result<String> {
    let sizes: Vec<i32> = tensor.sizes()?.iter().collect();
    Ok(format!("{}{sizes:?}", tensor.scalar_type()?.name()))
}

/// The largest tensors, constants and planned ones, by type and size in bytes.
fn largest(plan: ExecutionPlan<'_>) -> et_core::Result<Vec<(String, u64)>> {
    let mut tensors = Vec::new();
    for (index, value) in plan.values()?.iter().enumerate() {
        let value: EValue<'_> = value?;
        if value.kind()? == Kind::Tensor {
            let tensor = plan.tensor(index)?;
            let numel: u64 = tensor.sizes()?.iter().map(|size| size.max(0) as u64).product();
            let place = if tensor.allocation()?.is_some() { "planned" } else { "constant" };
            let size = numel * tensor.scalar_type()?.size() as u64;
            tensors.push((format!("{place} {}", tensor_type(tensor)?), size));
        }
    }
    tensors.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    tensors.truncate(LARGEST);
    Ok(tensors)
}

fn text(description: &Description) -> String {
    let producer = description.producer.as_deref().unwrap_or("not stated");
    let mut lines = vec![
        format!("size       {}", bytes(description.size as u64)),
        format!("producer   {producer}"),
        format!("segments   {}", description.segments.len()),
    ];
    for method in &description.methods {
        lines.push(format!("\nmethod {}", method.name));
        lines.push(format!("inputs     {}", method.inputs.join(", ")));
        lines.push(format!("outputs    {}", method.outputs.join(", ")));
        lines.push(format!(
            "arenas     {}",
            method.arenas.iter().map(|size| bytes(*size)).collect::<Vec<_>>().join(", ")
        ));
        lines.push(format!("values     {}", method.values));
        lines.push(format!(
            "delegates  {}",
            if method.delegates.is_empty() { "none".to_owned() } else { method.delegates.join(", ") }
        ));
        lines.push(counts(&method.operators));
        lines.push(sizes(&method.largest));
    }
    lines.join("\n")
}

fn counts(operators: &BTreeMap<String, usize>) -> String {
    let mut table = Table::new(&["operator", "calls"]);
    operators.iter().for_each(|(name, count)| table.row(vec![name.clone(), count.to_string()]));
    format!("\n{}", table.render())
}

fn sizes(largest: &[(String, u64)]) -> String {
    let mut table = Table::new(&["largest tensors", "size"]);
    largest.iter().for_each(|(name, size)| table.row(vec![name.clone(), bytes(*size)]));
    format!("\n{}", table.render())
}
