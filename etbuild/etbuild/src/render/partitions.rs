//! Where the nodes of programs run, for people.

use std::collections::BTreeMap;

use etbuild_engine::NodePlace;
use etbuild_inspect::{Crossing, UnitPartition};

use super::{Table, bytes};

/// Every unit: how much runs where, then every node.
pub fn partitions_text(units: &[UnitPartition]) -> String {
    units.iter().map(unit_text).collect::<Vec<_>>().join("\n\n")
}

fn unit_text(unit: &UnitPartition) -> String {
    let engines = if unit.engines.is_empty() { "portable".to_owned() } else { unit.engines.join(", ") };
    let title = format!("{} for {}, backends {engines}: {}", unit.recipe, unit.target, summary(&unit.nodes));
    let mut table = Table::new(&["method", "value", "operator", "module", "runs on", "because"]);
    for node in &unit.nodes {
        let module = node.module.clone().unwrap_or_else(|| "-".to_owned());
        let reasons: Vec<String> =
            node.refusals.iter().map(|refusal| format!("{}: {}", refusal.engine, refusal.reason)).collect();
        let cells = [&node.method, &node.value, &node.operator, &module, &place(node), &reasons.join("; ")];
        table.row(cells.into_iter().cloned().collect());
    }
    let crossings = crossings_text(&unit.crossings);
    format!("{title}\n\n{}{crossings}", table.render())
}

/// What crosses between backends in an execution; empty without partitions.
fn crossings_text(crossings: &[Crossing]) -> String {
    if crossings.is_empty() {
        return String::new();
    }
    let mut sums: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    let mut table = Table::new(&["method", "from", "to", "tensors", "bytes"]);
    for Crossing { method, from, to, tensors, bytes: size } in crossings {
        let sum = sums.entry(method).or_default();
        *sum = (sum.0 + tensors, sum.1 + size);
        table.row(vec![method.clone(), from.clone(), to.clone(), tensors.to_string(), bytes(*size)]);
    }
    let sum = |(method, (tensors, size)): (&str, (usize, u64))| format!("{method} {tensors} tensors, {}", bytes(size));
    let sums = sums.into_iter().map(sum).collect::<Vec<_>>().join("; ");
    format!("\n\ncrossings per execution: {sums}\n\n{}", table.render())
}

/// The number of nodes per backend, and of calls by method.
type Calls<'n> = (usize, Vec<(&'n str, usize)>);

/// `cpu 120 nodes in 1 call, portable 3 nodes`.
fn summary(nodes: &[NodePlace]) -> String {
    let mut counts: BTreeMap<&str, Calls<'_>> = BTreeMap::new();
    for node in nodes {
        let Some(engine) = node.engine.as_deref() else { continue };
        let (count, calls) = counts.entry(engine).or_default();
        *count += 1;
        calls.extend(node.partition.map(|partition| (node.method.as_str(), partition)));
    }
    let part = |(engine, (count, mut calls)): (&str, Calls<'_>)| {
        calls.sort_unstable();
        calls.dedup();
        match calls.len() {
            0 => format!("{engine} {count} nodes"),
            calls => format!("{engine} {count} nodes in {calls} calls"),
        }
    };
    counts.into_iter().map(part).collect::<Vec<_>>().join(", ")
}

fn place(node: &NodePlace) -> String {
    match (&node.engine, node.partition) {
        (Some(engine), Some(partition)) => format!("{engine} {partition}"),
        (Some(engine), None) => engine.clone(),
        (None, _) => "-".to_owned(),
    }
}
