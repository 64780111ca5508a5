//! A file as facts, each of which can be different or missing in another file.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Content, Delegate, Description, Method, Slot};

/// The subject of a fact.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Subject {
    /// The method; empty for a fact of the whole file.
    pub method: String,
    /// `operator`, `input`, `arena`, ...
    pub what: &'static str,
    /// The name of the described thing.
    pub name: String,
}

/// The facts of a file, constants excepted.
pub type Facts = BTreeMap<Subject, String>;

/// The facts of a file.
pub fn of(description: &Description) -> Facts {
    let mut facts = Facts::new();
    let mut add = |what, name: &str, value: String| {
        facts.insert(Subject { method: String::new(), what, name: name.to_owned() }, value);
    };
    add("file", "kind", description.kind().to_owned());
    if let Content::Bundle { suites, .. } = &description.content {
        suites.iter().for_each(|suite| add("cases", &suite.method, suite.cases.to_string()));
    }
    if let Some(program) = description.program() {
        add("file", "producer", program.producer.clone().unwrap_or_default());
        for (index, segment) in program.segments.iter().enumerate() {
            add("segment", &format!("{index} {}", segment.holds.join(", ")), segment.size.to_string());
        }
        program.methods.iter().for_each(|method| of_method(method, &mut facts));
    }
    facts
}

fn of_method(method: &Method, facts: &mut Facts) {
    let mut add = |what, name: String, value: String| {
        facts.insert(Subject { method: method.name.clone(), what, name }, value);
    };
    let typed = |slot: &Slot| slot.r#type.clone();
    for (index, input) in method.inputs.iter().enumerate() {
        add("input", input.name.clone().unwrap_or_else(|| index.to_string()), typed(input));
    }
    method.outputs.iter().enumerate().for_each(|(index, output)| add("output", index.to_string(), typed(output)));
    for (index, state) in method.state.iter().enumerate() {
        add("state", state.name.clone().unwrap_or_else(|| index.to_string()), typed(state));
    }
    method.operators.iter().for_each(|(name, calls)| add("operator", name.clone(), calls.to_string()));
    for (index, Delegate { name, size, calls, .. }) in method.delegates.iter().enumerate() {
        add("delegate", format!("{index} {name}"), format!("{size} bytes, {calls} calls"));
    }
    method.arenas.iter().zip(1..).for_each(|(size, id)| add("arena", format!("{id}"), size.to_string()));
    add("body", "digest".to_owned(), method.body.clone());
}
