//! Items in order of their size, each in the gap that it fills best.

use std::cmp::Reverse;

use super::{Item, Layout, PlanRequest, Planner};

/// Places one item after the other, each in the smallest gap between those placed before whose lifetimes it meets. Does
/// so in several orders and keeps the best layout: the one that leaves out the fewest bytes, then the smallest.
///
/// Best fit by size follows Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020); the
/// other orders win where a large value lives briefly between small ones that live long.
#[derive(Clone, Copy, Debug)]
pub struct Greedy;

/// What an order sorts by, smallest first. Items that every order considers equal are interchangeable.
type Order = fn(&Item) -> (Reverse<u128>, Reverse<u64>, usize, usize);

const ORDERS: &[Order] = &[
    |item| (Reverse(u128::from(item.size)), Reverse(item.size), item.lifetime.first, item.lifetime.last),
    |item| (Reverse(duration(item)), Reverse(item.size), item.lifetime.first, item.lifetime.last),
    |item| (Reverse(area(item)), Reverse(item.size), item.lifetime.first, item.lifetime.last),
];

const fn duration(item: &Item) -> u128 {
    (item.lifetime.last - item.lifetime.first + 1) as u128
}

const fn area(item: &Item) -> u128 {
    duration(item) * item.size as u128
}

impl Planner for Greedy {
    fn name(&self) -> &'static str {
        "greedy"
    }

    fn plan(&self, request: &PlanRequest) -> Layout {
        let layouts = ORDERS.iter().map(|order| in_order(request, *order));
        let best = layouts.min_by_key(|layout| (left_out(request, layout), layout.size));
        best.unwrap_or_else(|| request.layout(Vec::new()))
    }
}

fn left_out(request: &PlanRequest, layout: &Layout) -> u128 {
    let items = request.items.iter().zip(&layout.offsets);
    items.filter(|(_, offset)| offset.is_none()).map(|(item, _)| u128::from(item.size)).sum()
}

fn in_order(request: &PlanRequest, order: Order) -> Layout {
    let mut indices: Vec<usize> = (0..request.items.len()).collect();
    indices.sort_by_key(|index| order(&request.items[*index]));
    let mut offsets = vec![None; indices.len()];
    let mut placed: Vec<Placed> = Vec::new();
    for index in indices {
        let item = request.items[index];
        let Some(offset) = best_fit(request, &placed, item) else { continue };
        let position = placed.partition_point(|other| other.offset <= offset);
        placed.insert(position, Placed { offset, item });
        offsets[index] = Some(offset);
    }
    request.layout(offsets)
}

struct Placed {
    offset: u64,
    item: Item,
}

/// The offset of the smallest gap that takes `item`, or else behind everything that it meets. `placed` is sorted by
/// offset.
fn best_fit(request: &PlanRequest, placed: &[Placed], item: Item) -> Option<u64> {
    let mut end = 0;
    let mut best: Option<(u64, u64)> = None;
    for other in placed.iter().filter(|other| other.item.lifetime.overlaps(item.lifetime)) {
        let offset = request.align(end);
        let gap = other.offset.checked_sub(offset).filter(|gap| *gap >= item.size);
        best = best.into_iter().chain(gap.map(|gap| (gap, offset))).min();
        end = end.max(other.offset + other.item.size);
    }
    let offset = best.map_or_else(|| request.align(end), |(_, offset)| offset);
    request.fits(offset, item.size).then_some(offset)
}
