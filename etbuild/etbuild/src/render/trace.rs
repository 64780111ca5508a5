//! Profiles and drifts for people.

use std::collections::{BTreeMap, BTreeSet};

use super::{Table, bytes};
use crate::trace::{Drift, MethodProfile, Profile, Row};

/// The slowest instructions that are listed one by one.
const SLOWEST: usize = 10;

/// A profile: for each method the operators by backend and partition, and the slowest instructions.
pub fn profile_text(profile: &Profile) -> String {
    let mut texts: Vec<String> = profile.methods.iter().map(method_text).collect();
    if profile.left_out > 0 {
        texts.push(format!("{} events left out: a recording keeps a million", profile.left_out));
    }
    texts.join("\n\n")
}

fn method_text(method: &MethodProfile) -> String {
    let head = format!("{}: {} executions, {:.3} ms each", method.method, method.runs, method.milliseconds);
    format!("{head}\n\n{}\n\nslowest\n\n{}", operators(method), slowest(method))
}

/// Sums of instructions: number, milliseconds, bytes of results.
#[derive(Default)]
struct Sum {
    calls: usize,
    milliseconds: f64,
    bytes: usize,
}

/// More partitions of a backend than this are shown as one.
const MOST_PARTITIONS: usize = 4;

/// The operators of each partition, the slowest first.
fn operators(method: &MethodProfile) -> String {
    let mut partitions: BTreeMap<(&str, Option<usize>), BTreeMap<&str, Sum>> = BTreeMap::new();
    let mut numbers: BTreeMap<&str, BTreeSet<Option<usize>>> = BTreeMap::new();
    method.rows.iter().for_each(|row| _ = numbers.entry(&row.backend).or_default().insert(row.partition));
    let count = |backend: &str| numbers.get(backend).map_or(0, BTreeSet::len);
    for row in &method.rows {
        let partition = row.partition.filter(|_| count(&row.backend) <= MOST_PARTITIONS);
        let operators = partitions.entry((&row.backend, partition)).or_default();
        let sum = operators.entry(&row.operator).or_default();
        sum.calls += 1;
        sum.milliseconds += row.milliseconds;
        sum.bytes += row.bytes.unwrap_or(0);
    }
    let mut partitions: Vec<_> = partitions.into_iter().collect();
    let whole = |operators: &BTreeMap<&str, Sum>| operators.values().map(|sum| sum.milliseconds).sum::<f64>();
    partitions.sort_by(|(_, left), (_, right)| whole(right).total_cmp(&whole(left)));
    let mut table = Table::new(&["operator", "calls", "time", "share", "results"]);
    for ((backend, partition), operators) in partitions {
        let name = match (partition, count(backend)) {
            (Some(number), _) => format!("{backend}, partition {number}"),
            (None, 1) => backend.to_owned(),
            (None, count) => format!("{backend}, {count} partitions"),
        };
        let calls = operators.values().map(|sum| sum.calls).sum();
        let results = operators.values().map(|sum| sum.bytes).sum();
        table.row(cells(name, &Sum { calls, milliseconds: whole(&operators), bytes: results }, method));
        let mut operators: Vec<_> = operators.into_iter().collect();
        operators.sort_by(|(_, left), (_, right)| right.milliseconds.total_cmp(&left.milliseconds));
        for (operator, sum) in operators {
            table.row(cells(format!("  {operator}"), &sum, method));
        }
    }
    table.render()
}

/// Times are those of one execution.
fn cells(name: String, sum: &Sum, method: &MethodProfile) -> Vec<String> {
    let [time, share] = time_and_share(sum.milliseconds, method);
    vec![name, sum.calls.to_string(), time, share, bytes(sum.bytes as u64)]
}

fn time_and_share(milliseconds: f64, method: &MethodProfile) -> [String; 2] {
    let time = milliseconds / method.runs.max(1) as f64;
    [format!("{time:.3} ms"), format!("{:.1} %", time / method.milliseconds.max(f64::MIN_POSITIVE) * 100.0)]
}

fn slowest(method: &MethodProfile) -> String {
    let mut rows: Vec<&Row> = method.rows.iter().collect();
    rows.sort_by(|left, right| right.milliseconds.total_cmp(&left.milliseconds));
    let mut table = Table::new(&["time", "share", "operator", "value", "source"]);
    for row in rows.into_iter().take(SLOWEST) {
        let [time, share] = time_and_share(row.milliseconds, method);
        let source = row.line.as_ref().or(row.module.as_ref()).cloned().unwrap_or_default();
        table.row(vec![time, share, row.operator.clone(), row.value.clone(), source]);
    }
    table.render()
}

/// The first operator that drifts, and the operators with the largest errors.
pub fn drift_text(drifts: &[Drift], reference: &str, limit: f64) -> String {
    let compared = format!("{} results compared with {reference}", drifts.len());
    let first = match drifts.iter().find(|drift| drift.drifts(limit)) {
        Some(drift) => format!("the first below {limit} dB: {}", drift.place()),
        None => format!("all have at least {limit} dB"),
    };
    let mut table = Table::new(&["sqnr", "max error", "value", "operator", "source"]);
    for drift in drifts {
        let source = drift.line.as_ref().or(drift.module.as_ref()).cloned().unwrap_or_default();
        let error = format!("{:.3e}", drift.max_error.unwrap_or(f64::INFINITY));
        table.row(vec![drift.decibels(), error, drift.value.clone(), drift.operator.clone(), source]);
    }
    format!("{compared}; {first}\n\n{}", table.render())
}
