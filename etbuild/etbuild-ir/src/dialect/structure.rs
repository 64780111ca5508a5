//! Rules for graphs of every dialect.

use std::collections::HashSet;

use crate::in_place::unsound_writes;
use crate::{Graph, Node, Program, ValueId, ValueKind, Violation, control};

/// The violations of structure: ids out of range, values that are read before their definition or defined twice,
/// constants of the wrong length, dim orders of the wrong rank, updates of values other than state and inputs. In a
/// graph with jumps, several nodes may compute a value.
pub fn violations(program: &Program) -> Vec<Violation> {
    let mut found = Vec::new();
    for (method, graph) in &program.methods {
        check(method, graph, &mut found);
    }
    found
}

fn check(method: &str, graph: &Graph, found: &mut Vec<Violation>) {
    let jumps = graph.nodes.iter().any(control::is_label);
    let mut check = Check { method, graph, jumps, defined: HashSet::new(), found };
    check.values();
    check.nodes();
    check.results();
    check.writes();
}

struct Check<'a> {
    method: &'a str,
    graph: &'a Graph,
    jumps: bool,
    defined: HashSet<ValueId>,
    found: &'a mut Vec<Violation>,
}

impl Check<'_> {
    fn values(&mut self) {
        for (id, value) in self.graph.values_with_ids() {
            if value.spec.dim_order.len() != value.spec.rank() {
                self.report(&value.name, "the rank of the dim order differs from the rank of the shape".into());
            }
            let ordered = value.spec.least.iter().zip(&value.spec.sizes).all(|(least, most)| least <= most);
            if value.spec.least.len() != value.spec.rank() || !ordered {
                self.report(&value.name, "a minimum size is larger than the maximum size".into());
            }
            if let ValueKind::Constant { data, .. } | ValueKind::State { initial: data, .. } = &value.kind {
                self.defined.insert(id);
                self.constant_length(&value.name, data.bytes().len(), value.spec.nbytes());
            }
        }
        self.graph.inputs.iter().for_each(|id| self.define("input", *id));
    }

    fn constant_length(&mut self, name: &str, have: usize, want: usize) {
        if have != want {
            self.report(name, format!("the constant has {have} bytes, but the type and shape need {want}"));
        }
    }

    fn nodes(&mut self) {
        for node in &self.graph.nodes {
            let place = node.operator.as_str();
            node.uses().for_each(|id| self.used(place, id));
            self.outputs(node);
            node.graphs().for_each(|graph| check(self.method, graph, self.found));
        }
    }

    fn outputs(&mut self, node: &Node) {
        let place = node.operator.as_str();
        for id in &node.outputs {
            if !(self.jumps && self.defined.contains(id)) {
                self.define(place, *id);
            }
        }
    }

    fn results(&mut self) {
        self.graph.results().for_each(|id| self.used("output", id));
        for update in &self.graph.updates {
            match self.graph.values.get(update.target.index()).map(|value| &value.kind) {
                Some(ValueKind::State { .. } | ValueKind::Input) => {}
                _ => self.report("update", format!("value {} is neither state nor an input", update.target.0)),
            }
        }
    }

    fn writes(&mut self) {
        for (node, reason) in unsound_writes(self.graph) {
            self.report(node.operator.as_str(), reason.to_owned());
        }
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
