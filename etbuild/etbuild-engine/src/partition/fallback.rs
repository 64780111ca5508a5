//! The part of a program that runs on portable kernels although backends were asked.

use std::collections::BTreeMap;

use etbuild_backend::RefusalKind;
use serde::Serialize;

use super::{NodePlace, PORTABLE};

/// The nodes of a unit on portable kernels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fallback {
    /// The number of these nodes.
    pub nodes: usize,
    /// The number of all nodes that run.
    pub all_nodes: usize,
    /// The share of the work, from 0 to 1: multiply-adds, and elements of nodes without.
    pub work: f64,
    /// The reasons with the number of nodes, the most frequent first.
    pub reasons: Vec<FallbackReason>,
}

/// Why nodes run on portable kernels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FallbackReason {
    /// The reason in a word or two: `float64`, `dynamic size`, `aten.sort.default`.
    pub reason: String,
    /// The number of nodes.
    pub nodes: usize,
}

impl Fallback {
    /// The fallback of these nodes; `None` where no node falls back. A partition of views that is not worth a delegate call does not count,
    /// and neither does a program in floating point that a backend for int8 was asked about.
    pub fn of(nodes: &[NodePlace]) -> Option<Self> {
        let runs = || nodes.iter().filter(|node| node.engine.is_some());
        let is_fallback = |node: &&NodePlace| {
            node.engine.as_deref() == Some(PORTABLE)
                && !is_cheap(node)
                && !FIXED_POINT.contains(&node.operator.as_str())
        };
        let left: Vec<&NodePlace> = runs().filter(is_fallback).collect();
        if nodes.iter().all(|node| node.partition.is_none()) && is_unquantized(&left) {
            return None;
        }
        let work = |nodes: &mut dyn Iterator<Item = &NodePlace>| nodes.map(|node| node.work as f64).sum::<f64>();
        let (own, all) = (work(&mut left.iter().copied()), work(&mut runs()));
        (!left.is_empty()).then(|| Self {
            nodes: left.len(),
            all_nodes: runs().count(),
            work: if all > 0.0 { own / all } else { 0.0 },
            reasons: reasons(&left),
        })
    }

    /// The sentence with the command that says more.
    pub fn remark(&self) -> String {
        format!("{}; `etbuild explain --partition` lists them", self.sentence())
    }

    /// `3 of 120 nodes, 2 % of the work, on portable kernels: float64 (2), dynamic size (1)`.
    pub fn sentence(&self) -> String {
        let percent = self.work * 100.0;
        let percent = if percent < 1.0 { "less than 1".to_owned() } else { format!("{percent:.0}") };
        let named = self.reasons.iter().take(MOST).map(|row| format!("{} ({})", row.reason, row.nodes));
        let more = (self.reasons.len() > MOST).then(|| "others".to_owned());
        let reasons: Vec<String> = named.chain(more).collect();
        let Self { nodes, all_nodes, .. } = self;
        format!("{nodes} of {all_nodes} nodes, {percent} % of the work, on portable kernels: {}", reasons.join(", "))
    }
}

/// The reasons that a sentence names.
const MOST: usize = 3;

/// Operators whose portable kernels compute in fixed point on every processor: no backend has others.
const FIXED_POINT: [&str; 3] = ["etbuild.log_mel.default", "etbuild.pixels.default", "etbuild.advance.default"];

fn is_cheap(node: &NodePlace) -> bool {
    node.refusals.last().is_some_and(|refusal| refusal.kind == RefusalKind::Gain.name())
}

/// Whether a backend asks for int8 of a program that has none.
fn is_unquantized(nodes: &[&NodePlace]) -> bool {
    let asks =
        |node: &&NodePlace| node.refusals.last().is_some_and(|last| last.kind == RefusalKind::Quantization.name());
    nodes.iter().any(asks) && nodes.iter().all(|node| node.scalar_type != "int8")
}

fn reasons(nodes: &[&NodePlace]) -> Vec<FallbackReason> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    nodes.iter().for_each(|node| *counts.entry(reason(node)).or_default() += 1);
    let mut reasons: Vec<_> = counts.into_iter().map(|(reason, nodes)| FallbackReason { reason, nodes }).collect();
    reasons.sort_by_key(|row| std::cmp::Reverse(row.nodes));
    reasons
}

/// The reason of the last backend that was asked, in a word or two.
fn reason(node: &NodePlace) -> String {
    let Some(refusal) = node.refusals.last() else { return "no backend was asked".to_owned() };
    match RefusalKind::parse(&refusal.kind) {
        Some(RefusalKind::Operator) => node.operator.clone(),
        Some(RefusalKind::Type) => node.scalar_type.clone(),
        Some(RefusalKind::DynamicShape) => "dynamic size".to_owned(),
        Some(RefusalKind::Control) => "control flow, numbers or state".to_owned(),
        Some(kind) => kind.name().to_owned(),
        None => refusal.reason.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::EngineRefusal;

    fn node(engine: &str, work: u64, kind: Option<RefusalKind>) -> NodePlace {
        let refusal = |kind: RefusalKind| EngineRefusal {
            engine: "cpu".to_owned(),
            kind: kind.name().to_owned(),
            reason: String::new(),
        };
        NodePlace {
            method: "forward".to_owned(),
            operator: "aten.relu.default".to_owned(),
            value: "x".to_owned(),
            shape: String::new(),
            reads: Vec::new(),
            module: None,
            work,
            scalar_type: "float64".to_owned(),
            engine: Some(engine.to_owned()),
            partition: None,
            refusals: kind.map(refusal).into_iter().collect(),
        }
    }

    #[test]
    fn a_sentence_says_how_much_runs_on_portable_kernels_and_why() {
        let mut nodes: Vec<NodePlace> = (0..7).map(|_| node("cpu", 14, None)).collect();
        assert_eq!(Fallback::of(&nodes), None);
        nodes.push(node(PORTABLE, 1, Some(RefusalKind::DynamicShape)));
        nodes.extend([node(PORTABLE, 1, Some(RefusalKind::Type)), node(PORTABLE, 0, Some(RefusalKind::Type))]);
        let sentence = "3 of 10 nodes, 2 % of the work, on portable kernels: float64 (2), dynamic size (1)";
        assert_eq!(Fallback::of(&nodes).unwrap().sentence(), sentence);
    }

    #[test]
    fn a_program_in_floating_point_does_not_fall_back_from_a_backend_for_int8() {
        let mut nodes =
            vec![node(PORTABLE, 14, Some(RefusalKind::Quantization)), node(PORTABLE, 1, Some(RefusalKind::Operator))];
        assert_eq!(Fallback::of(&nodes), None);
        nodes[1].scalar_type = "int8".to_owned();
        assert_eq!(Fallback::of(&nodes).unwrap().nodes, 2);
    }

    #[test]
    fn views_that_are_not_worth_a_call_do_not_count() {
        let nodes = [node("cpu", 14, None), node(PORTABLE, 14, Some(RefusalKind::Gain))];
        assert_eq!(Fallback::of(&nodes), None);
    }
}
