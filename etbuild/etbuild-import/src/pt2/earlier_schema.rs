//! The program of an archive in the schema that ExecuTorch's tools read: `exir/serde/schema.py` of ExecuTorch 1.4, version 5.4, an
//! earlier form of the archive's own schema. The reader accepts no field that this version lacks.
//!
//! Each node of the graph gets a debug handle, the position counted from 1, as metadata.

use serde_json::{Map, Value, json};

use super::earlier_expression::earlier;
use super::model;
use crate::ImportError;

/// The version that is written.
const VERSION: (u64, u64) = (5, 4);

const PROGRAM: [&str; 4] = ["graph_module", "opset_version", "range_constraints", "verifiers"];
const GRAPH_MODULE: [&str; 3] = ["graph", "signature", "module_call_graph"];
const GRAPH: [&str; 8] = [
    "inputs",
    "outputs",
    "nodes",
    "tensor_values",
    "sym_int_values",
    "sym_bool_values",
    "is_single_tensor_return",
    "custom_obj_values",
];
const NODE: [&str; 5] = ["name", "target", "inputs", "outputs", "metadata"];
const CALL_SIGNATURE: [&str; 4] = ["inputs", "outputs", "in_spec", "out_spec"];

/// Arguments that version 5.4 lacks.
const LATER: [&str; 8] = [
    "as_sym_float",
    "as_sym_floats",
    "as_complex",
    "as_nested_tensors",
    "as_int_lists",
    "as_float_lists",
    "as_string_to_argument",
    "parameter_mutation",
];

/// Numbers that the archive writes as texts, and the earlier schema as Python's JSON does.
const NOT_FINITE: [&str; 3] = ["Infinity", "-Infinity", "NaN"];

/// The program of `models/model.json` in the earlier schema.
///
/// # Errors
/// JSON of another form, and arguments that the earlier schema lacks.
pub fn program(bytes: &[u8]) -> Result<String, ImportError> {
    let mut program: Map<String, Value> = model::parse(model::MODEL, bytes)?;
    program.retain(|field, _| PROGRAM.contains(&field.as_str()));
    program.insert("schema_version".to_owned(), json!({ "major": VERSION.0, "minor": VERSION.1 }));
    program.insert("dialect".to_owned(), json!("ATEN"));
    program.get_mut("range_constraints").into_iter().for_each(bounds);
    if let Some(module) = program.get_mut("graph_module") {
        graph_module(module)?;
    }
    let mut text = Value::Object(program).to_string();
    for number in NOT_FINITE {
        text = text.replace(&format!("\"as_float\":\"{number}\""), &format!("\"as_float\":{number}"));
    }
    Ok(text)
}

fn graph_module(module: &mut Value) -> Result<(), ImportError> {
    only(module, &GRAPH_MODULE);
    for call in elements(module, "module_call_graph") {
        call.get_mut("signature").into_iter().for_each(|signature| only(signature, &CALL_SIGNATURE));
    }
    if let Some(body) = module.get_mut("graph") {
        graph(body);
        for (handle, node) in (1..).zip(elements(body, "nodes")) {
            handled(node, handle);
        }
    }
    arguments(module)
}

/// Removes the fields that the earlier schema lacks.
fn only(value: &mut Value, fields: &[&str]) {
    if let Value::Object(object) = value {
        object.retain(|field, _| fields.contains(&field.as_str()));
    }
}

fn elements<'v>(value: &'v mut Value, field: &str) -> &'v mut [Value] {
    value.get_mut(field).and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default()
}

/// Absent bounds are the largest and the smallest integer.
fn bounds(constraints: &mut Value) {
    for constraint in constraints.as_object_mut().into_iter().flat_map(Map::values_mut) {
        for (bound, most) in [("min_val", i64::MIN), ("max_val", i64::MAX)] {
            constraint
                .get_mut(bound)
                .filter(|value| value.is_null())
                .into_iter()
                .for_each(|value| *value = json!(most));
        }
    }
}

fn graph(value: &mut Value) {
    only(value, &GRAPH);
    for node in elements(value, "nodes") {
        only(node, &NODE);
        named(node);
        for input in elements(node, "inputs") {
            only(input, &["name", "arg"]);
            input.pointer_mut("/arg/as_graph/graph").into_iter().for_each(graph);
        }
    }
}

/// A node of an archive of an earlier torch gets the name of the first result.
fn named(node: &mut Value) {
    let name = node.pointer("/outputs/0/as_tensor/name").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(node) = node.as_object_mut().filter(|node| !node.get("name").is_some_and(Value::is_string)) {
        node.insert("name".to_owned(), Value::String(name));
    }
}

fn handled(node: &mut Value, handle: usize) {
    if let Some(metadata) = node.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("debug_handle".to_owned(), Value::String(handle.to_string()));
    }
}

/// Writes absent arguments, and tensors that may be absent, in the form of the earlier schema.
fn arguments(value: &mut Value) -> Result<(), ImportError> {
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(arguments),
        Value::Object(object) => {
            if let Some(later) = LATER.iter().find(|field| object.contains_key(**field)) {
                let reason = format!("`{later}` is no argument of the schema of ExecuTorch's tools");
                return Err(ImportError::Malformed { member: model::MODEL.to_owned(), reason });
            }
            if let Some(none) = object.get_mut("as_none") {
                *none = json!([]);
            }
            if let Some(Value::String(expression)) = object.get_mut("expr_str") {
                *expression = earlier(expression);
            }
            object.values_mut().try_for_each(arguments)?;
            if let Some(optional) = object.remove("as_optional_tensor") {
                *value = optional;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(node: &Value) -> Result<Value, ImportError> {
        let module = json!({ "graph": { "nodes": [node], "sym_float_values": {} }, "metadata": {} });
        let model = json!({ "graph_module": module, "range_constraints": { "s0": { "min_val": 2, "max_val": null } } });
        program(model.to_string().as_bytes()).map(|text| serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn fields_of_later_versions_are_left_out_and_nodes_have_handles() {
        let input = json!({ "name": "bias", "kind": 1, "arg": { "as_optional_tensor": { "as_none": true } } });
        let node =
            json!({ "target": "t", "inputs": [input], "outputs": [{ "as_tensor": { "name": "y" } }], "metadata": {} });
        let program = written(&node).unwrap();
        let wanted = json!({
            "name": "y", "target": "t", "inputs": [{ "name": "bias", "arg": { "as_none": [] } }],
            "outputs": [{ "as_tensor": { "name": "y" } }], "metadata": { "debug_handle": "1" },
        });
        assert_eq!(program["graph_module"]["graph"], json!({ "nodes": [wanted] }));
        assert_eq!(program["range_constraints"]["s0"]["max_val"], i64::MAX);
    }

    #[test]
    fn an_argument_of_a_later_version_is_refused() {
        let node = json!({ "inputs": [{ "arg": { "as_complex": { "real": 1.0, "imag": 0.0 } } }] });
        assert!(matches!(written(&node), Err(ImportError::Malformed { reason, .. }) if reason.contains("as_complex")));
    }

    #[test]
    fn infinity_is_a_number() {
        let model = json!({ "graph_module": { "graph": { "nodes": [{ "inputs": [{ "arg": { "as_float": "-Infinity" } }] }] } } });
        let text = program(model.to_string().as_bytes()).unwrap();
        assert!(text.contains("\"as_float\":-Infinity"), "{text}");
    }
}
