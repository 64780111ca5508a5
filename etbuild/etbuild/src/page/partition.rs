//! Where the nodes run, and why not elsewhere.

use std::collections::BTreeMap;

use etbuild_engine::NodePlace;
use etbuild_inspect::{Crossing, UnitAnatomy};
use serde::Serialize;

use crate::render::bytes;

/// More nodes than this are not listed: the page stays small.
const MOST: usize = 4000;

#[derive(Serialize)]
pub struct View {
    places: Vec<Place>,
    reasons: Vec<Reason>,
    crossings: Vec<Row>,
    nodes: Vec<Node>,
    left_out: usize,
}

/// A backend, or the portable kernels.
#[derive(Serialize)]
struct Place {
    name: String,
    nodes: usize,
    calls: usize,
    /// Of all nodes, in percent.
    width: String,
    /// Which colour.
    class: &'static str,
}

#[derive(Serialize)]
struct Reason {
    engine: String,
    reason: String,
    nodes: usize,
    operators: String,
}

/// What crosses between two places in an execution.
#[derive(Serialize)]
struct Row {
    method: String,
    from: String,
    to: String,
    tensors: usize,
    size: String,
}

#[derive(Serialize)]
struct Node {
    method: String,
    value: String,
    operator: String,
    module: String,
    place: String,
    class: &'static str,
    reasons: String,
}

pub fn view(anatomy: &UnitAnatomy) -> View {
    let nodes = &anatomy.nodes;
    View {
        places: places(nodes),
        reasons: reasons(nodes),
        crossings: anatomy.crossings.iter().map(row).collect(),
        nodes: nodes.iter().take(MOST).map(node).collect(),
        left_out: nodes.len().saturating_sub(MOST),
    }
}

fn name(node: &NodePlace) -> &str {
    node.engine.as_deref().unwrap_or("no code")
}

/// The backend of a node with the number of the partition.
pub fn place_name(node: &NodePlace) -> String {
    match node.partition {
        Some(partition) => format!("{} {partition}", name(node)),
        None => name(node).to_owned(),
    }
}

/// The colour of a node.
pub fn class(node: &NodePlace) -> &'static str {
    match node.engine.as_deref() {
        None => "none",
        Some("portable") => "portable",
        Some(_) => "engine",
    }
}

fn places(nodes: &[NodePlace]) -> Vec<Place> {
    let mut found: BTreeMap<&str, Vec<&NodePlace>> = BTreeMap::new();
    nodes.iter().for_each(|node| found.entry(name(node)).or_default().push(node));
    let place = |(name, of): (&str, Vec<&NodePlace>)| {
        let mut calls: Vec<_> = of.iter().filter_map(|node| Some((&node.method, node.partition?))).collect();
        calls.sort_unstable();
        calls.dedup();
        Place {
            name: name.to_owned(),
            nodes: of.len(),
            calls: calls.len(),
            width: super::percent(of.len() as f64, nodes.len() as f64),
            class: of.first().map_or("none", |node| class(node)),
        }
    };
    found.into_iter().map(place).collect()
}

/// The reasons why nodes do not run on a backend, the most frequent reason first.
fn reasons(nodes: &[NodePlace]) -> Vec<Reason> {
    let mut found: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for node in nodes {
        for refusal in &node.refusals {
            found.entry((&refusal.engine, &refusal.reason)).or_default().push(&node.operator);
        }
    }
    let reason = |((engine, reason), mut operators): ((&str, &str), Vec<&str>)| {
        let nodes = operators.len();
        operators.sort_unstable();
        operators.dedup();
        Reason { engine: engine.to_owned(), reason: reason.to_owned(), nodes, operators: operators.join(", ") }
    };
    let mut reasons: Vec<Reason> = found.into_iter().map(reason).collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.nodes));
    reasons
}

fn row(crossing: &Crossing) -> Row {
    let Crossing { method, from, to, tensors, bytes: size } = crossing.clone();
    Row { method, from, to, tensors, size: bytes(size) }
}

fn node(node: &NodePlace) -> Node {
    let reasons: Vec<String> =
        node.refusals.iter().map(|refusal| format!("{}: {}", refusal.engine, refusal.reason)).collect();
    Node {
        method: node.method.clone(),
        value: node.value.clone(),
        operator: node.operator.clone(),
        module: node.module.clone().unwrap_or_default(),
        place: place_name(node),
        class: class(node),
        reasons: reasons.join("; "),
    }
}
