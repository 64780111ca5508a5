//! Which layers take the time.

use std::collections::BTreeMap;

use serde::Serialize;

use super::percent;
use crate::report::{DeployReport, LayerTime};

/// The slowest layers are shown at once, the other layers on demand.
const SLOWEST: usize = 12;

/// More layers than this are not listed: the page stays small.
const MOST: usize = 3000;

#[derive(Serialize)]
pub struct View {
    problem: Option<String>,
    total: String,
    /// Operators by their share of the time.
    operators: Vec<Row>,
    slowest: Vec<Row>,
    others: Vec<Row>,
    left_out: usize,
}

#[derive(Serialize)]
struct Row {
    name: String,
    module: String,
    operator: String,
    time: String,
    /// Of the whole, in percent.
    width: String,
    share: String,
}

/// `None` without `--latency`.
pub fn view(report: &DeployReport) -> Option<View> {
    let latency = report.latency.as_ref()?;
    let whole: f64 = latency.layers.iter().map(|layer| layer.milliseconds).sum();
    let mut layers: Vec<&LayerTime> = latency.layers.iter().collect();
    layers.sort_by(|left, right| right.milliseconds.total_cmp(&left.milliseconds));
    let nodes = &report.anatomy.nodes;
    let modules: BTreeMap<(&str, &str), &str> = nodes
        .iter()
        .filter_map(|node| Some(((node.method.as_str(), node.value.as_str()), node.module.as_deref()?)))
        .collect();
    let layer = |layer: &&LayerTime| {
        let module = modules.get(&(layer.method.as_str(), layer.value.as_str()));
        row(&layer.value, module.copied().unwrap_or_default(), &layer.operator, layer.milliseconds, whole)
    };
    Some(View {
        problem: latency.problem.clone(),
        total: time(whole),
        operators: operators(&layers, whole),
        slowest: layers.iter().take(SLOWEST).map(layer).collect(),
        others: layers.iter().take(MOST).skip(SLOWEST).map(layer).collect(),
        left_out: layers.len().saturating_sub(MOST),
    })
}

fn operators(layers: &[&LayerTime], whole: f64) -> Vec<Row> {
    let mut sums: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    for layer in layers {
        let sum = sums.entry(&layer.operator).or_default();
        *sum = (sum.0 + 1, sum.1 + layer.milliseconds);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|(_, left), (_, right)| right.1.total_cmp(&left.1));
    sums.into_iter().map(|(name, (count, sum))| row(&format!("{name} ({count})"), "", "", sum, whole)).collect()
}

fn row(name: &str, module: &str, operator: &str, milliseconds: f64, whole: f64) -> Row {
    let part = percent(milliseconds, whole);
    Row {
        name: name.to_owned(),
        module: module.to_owned(),
        operator: operator.to_owned(),
        time: time(milliseconds),
        share: format!("{:.1} %", part.parse::<f64>().unwrap_or_default()),
        width: part,
    }
}

fn time(milliseconds: f64) -> String {
    if milliseconds < 1.0 { format!("{:.1} µs", milliseconds * 1e3) } else { format!("{milliseconds:.2} ms") }
}
