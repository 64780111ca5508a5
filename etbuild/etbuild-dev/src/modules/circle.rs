//! Circles among the modules of a folder.

use std::collections::{BTreeSet, VecDeque};

use super::Edges;

/// A shortest circle through each group of modules that reach each other, the first module at both ends.
pub fn circles(edges: &Edges) -> Vec<Vec<String>> {
    let (mut found, mut covered) = (Vec::new(), BTreeSet::new());
    for start in edges.keys() {
        if !covered.contains(start)
            && let Some(circle) = circle(edges, start)
        {
            covered.extend(circle.iter().cloned());
            found.push(circle);
        }
    }
    found
}

/// A shortest path from a module to itself.
fn circle(edges: &Edges, start: &str) -> Option<Vec<String>> {
    let mut paths = VecDeque::from([vec![start.to_owned()]]);
    let mut seen = BTreeSet::new();
    while let Some(path) = paths.pop_front() {
        for next in path.last().and_then(|last| edges.get(last)).into_iter().flatten() {
            let longer = path.iter().chain([next]).cloned().collect();
            if next == start {
                return Some(longer);
            }
            if seen.insert(next.clone()) {
                paths.push_back(longer);
            }
        }
    }
    None
}
