//! Best fit: large items first, each in the smallest gap that is wide enough.

use std::cmp::Reverse;

use super::{Item, Layout, PlanRequest, Planner};

/// Places items one by one. Each goes to the smallest gap between the placed items with overlapping lifetimes. Tries
/// several orders of the items and keeps the best layout: fewest bytes left out, then smallest arena.
///
/// Best fit by size follows Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020).
/// The orders by duration and by area win where a large short-lived value meets small long-lived values.
#[derive(Clone, Copy, Debug)]
pub struct Greedy;

/// The sort key of an order, smallest first. Items with equal keys in every order are interchangeable.
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

/// The offset of the smallest gap for `item`, or the end of the last item with an overlapping lifetime. `placed` is
/// sorted by offset.
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
