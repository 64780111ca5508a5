//! What holds for a graph of any dialect.

use std::collections::HashSet;

use crate::{Graph, Program, ValueId, ValueKind, Violation};

/// Every breach of structure: ids out of range, values used before they are computed or computed twice, constants of the
/// wrong length, dim orders of the wrong rank.
pub fn violations(program: &Program) -> Vec<Violation> {
    let mut found = Vec::new();
    for (method, graph) in &program.methods {
        let mut check = Check { method, graph, defined: HashSet::new(), found: &mut found };
        check.values();
        check.nodes();
        check.outputs();
    }
    found
}

struct Check<'a> {
    method: &'a str,
    graph: &'a Graph,
    defined: HashSet<ValueId>,
    found: &'a mut Vec<Violation>,
}

impl Check<'_> {
    fn values(&mut self) {
        for (id, value) in self.graph.values_with_ids() {
            if value.spec.dim_order.len() != value.spec.rank() {
                self.report(&value.name, "the dim order has another rank than the shape".into());
            }
            if let ValueKind::Constant { data, .. } = &value.kind {
                self.defined.insert(id);
                self.constant_length(&value.name, data.bytes().len(), value.spec.nbytes());
            }
        }
        self.graph.inputs.iter().for_each(|id| self.define("input", *id));
    }

    fn constant_length(&mut self, name: &str, have: usize, want: usize) {
        if have != want {
            self.report(name, format!("the constant has {have} bytes, its type and shape take {want}"));
        }
    }

    fn nodes(&mut self) {
        for node in &self.graph.nodes {
            let place = node.operator.as_str();
            node.uses().for_each(|id| self.used(place, id));
            node.outputs.iter().for_each(|id| self.define(place, *id));
        }
    }

    fn outputs(&mut self) {
        self.graph.outputs.iter().for_each(|id| self.used("output", *id));
    }

    fn used(&mut self, place: &str, id: ValueId) {
        if !self.defined.contains(&id) {
            self.report(place, format!("value {} is used before it is computed", id.0));
        }
    }

    fn define(&mut self, place: &str, id: ValueId) {
        if id.index() >= self.graph.values.len() {
            self.report(place, format!("value {} does not exist", id.0));
        } else if !self.defined.insert(id) {
            self.report(place, format!("value {} is computed twice", id.0));
        }
    }

    fn report(&mut self, place: &str, reason: String) {
        self.found.push(Violation { method: self.method.to_owned(), place: place.to_owned(), reason });
    }
}
