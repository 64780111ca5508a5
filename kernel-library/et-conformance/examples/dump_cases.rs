//! Prints every case of the operator catalogue as JSON, one object per line, for `check_with_torch.py`.
//!
//! NaN and the infinities are written as the strings `nan`, `inf` and `-inf`.

use std::io::{Result, Write, stdout};

use et_ops::{Case, CaseArgument, CaseTensor, Expectation, OPERATORS, Operator};
use serde_json::{Value, json};

fn main() -> Result<()> {
    let mut out = stdout().lock();
    for operator in OPERATORS {
        for case in operator.cases {
            writeln!(out, "{}", line(operator, case))?;
        }
    }
    Ok(())
}

fn line(operator: &Operator, case: &Case) -> Value {
    json!({
        "operator": operator.name(),
        "schema": operator.schema,
        "functional": operator.functional,
        "case": case.name,
        "arguments": case.arguments.iter().map(argument).collect::<Vec<_>>(),
        "expect": expectation(&case.expect),
    })
}

fn expectation(expect: &Expectation) -> Value {
    match expect {
        Expectation::Outputs { tensors, tolerance } => json!({"outputs": all(tensors), "tolerance": tolerance}),
        Expectation::Conversion(tensors) => json!({"outputs": all(tensors), "tolerance": 0.0, "converting": true}),
        Expectation::Bounded(tensors) => json!({"outputs": all(tensors), "tolerance": 0.0}),
        Expectation::Refusal(error) => json!({"refusal": error.message()}),
    }
}

fn argument(argument: &CaseArgument) -> Value {
    match argument {
        CaseArgument::None => Value::Null,
        CaseArgument::Int(value) => json!(value),
        CaseArgument::Bool(value) => json!(value),
        CaseArgument::Double(value) => json!({"double": number(*value)}),
        CaseArgument::Text(value) => json!(value),
        CaseArgument::Ints(values) => json!(values),
        CaseArgument::Doubles(values) => values.iter().map(|value| json!({"double": number(*value)})).collect(),
        CaseArgument::Bools(values) => json!(values),
        CaseArgument::Type(scalar_type) => json!({"type": scalar_type.name()}),
        CaseArgument::Tensor(value) => tensor(value),
        CaseArgument::Tensors(values) => all(values),
        CaseArgument::OptionalTensors(values) => values.iter().map(|value| value.as_ref().map(tensor)).collect(),
    }
}

fn all(tensors: &[CaseTensor]) -> Value {
    tensors.iter().map(tensor).collect()
}

fn tensor(tensor: &CaseTensor) -> Value {
    json!({
        "dtype": tensor.scalar_type.name(),
        "sizes": tensor.sizes,
        "elements": tensor.elements.iter().map(|element| number(*element)).collect::<Vec<_>>(),
    })
}

fn number(value: f64) -> Value {
    if value.is_nan() {
        json!("nan")
    } else if value.is_infinite() {
        json!(if value > 0.0 { "inf" } else { "-inf" })
    } else {
        json!(value)
    }
}
