//! The memory plan as pictures: steps from left to right, addresses from top to bottom.

use etbuild_inspect::{ArenaUse, MethodMemory, Placed};
use serde::Serialize;

use super::{percent, share};
use crate::render::bytes;

/// More values than this are not drawn, the smallest are left out: the page stays small.
const MOST: usize = 3000;

/// How many values are listed at the peak.
const LISTED: usize = 12;

#[derive(Serialize)]
pub struct View {
    title: String,
    size: String,
    peak: String,
    /// The share of the arena in use at the peak.
    use_at_peak: String,
    steps: usize,
    /// The step at which the most is in use, in percent of all.
    peak_at: String,
    peak_step: usize,
    bars: Vec<Bar>,
    left_out: usize,
    /// The largest values at the peak.
    largest: Vec<Row>,
}

/// A value: the position and the lifetime, in percent of the arena and of the steps.
#[derive(Serialize)]
struct Bar {
    left: String,
    width: String,
    top: String,
    height: String,
    class: usize,
    title: String,
}

#[derive(Serialize)]
struct Row {
    name: String,
    r#type: String,
    size: String,
    steps: String,
}

/// A picture for each arena of each method.
pub fn views(methods: &[MethodMemory]) -> Vec<View> {
    let pairs = methods.iter().flat_map(|method| method.arenas.iter().map(move |arena| (method, arena)));
    pairs.map(|(method, arena)| view(method, arena)).collect()
}

fn view(method: &MethodMemory, arena: &ArenaUse) -> View {
    let mut drawn: Vec<(usize, &Placed)> = arena.values.iter().enumerate().collect();
    drawn.sort_by_key(|(_, value)| std::cmp::Reverse(value.size));
    let left_out = drawn.len().saturating_sub(MOST);
    drawn.truncate(MOST);
    View {
        title: format!("{}, bank {}", method.method, arena.bank),
        size: bytes(arena.size),
        peak: bytes(arena.peak),
        use_at_peak: share(arena.peak, arena.size),
        steps: method.steps,
        peak_at: percent(arena.peak_step as f64, method.steps as f64),
        peak_step: arena.peak_step,
        bars: drawn.into_iter().map(|(index, value)| bar(index, value, arena.size, method.steps)).collect(),
        left_out,
        largest: largest(arena),
    }
}

fn bar(index: usize, value: &Placed, size: u64, steps: usize) -> Bar {
    let of_time = |steps_of_it: usize| percent(steps_of_it as f64, steps as f64);
    Bar {
        left: of_time(value.first),
        width: of_time(value.last + 1 - value.first),
        top: percent(value.offset as f64, size as f64),
        height: percent(value.size as f64, size as f64),
        class: index % 6,
        title: format!(
            "{} {}: {}, steps {} to {}",
            value.name,
            value.r#type,
            bytes(value.size),
            value.first,
            value.last
        ),
    }
}

fn largest(arena: &ArenaUse) -> Vec<Row> {
    let at_peak = |value: &&Placed| (value.first..=value.last).contains(&arena.peak_step);
    let mut values: Vec<&Placed> = arena.values.iter().filter(at_peak).collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.size));
    let row = |value: &Placed| Row {
        name: value.name.clone(),
        r#type: value.r#type.clone(),
        size: bytes(value.size),
        steps: format!("{} to {}", value.first, value.last),
    };
    values.into_iter().take(LISTED).map(row).collect()
}
