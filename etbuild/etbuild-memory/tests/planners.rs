//! Properties of the layouts of every planner.

use etbuild_ir::Lifetime;
use etbuild_memory::{Greedy, Item, Layout, Naive, PLANNERS, PlanRequest, Planner, find_planner, lower_bound};
use proptest::collection::vec;
use proptest::prelude::*;

fn item(size: u64, first: usize, last: usize) -> Item {
    Item { size, lifetime: Lifetime { first, last } }
}

fn request(items: Vec<Item>) -> PlanRequest {
    PlanRequest { items, alignment: 16, capacity: None }
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    let item = (0..200_u64, 0..20_usize, 0..6_usize).prop_map(|(size, first, more)| item(size, first, first + more));
    vec(item, 0..40)
}

/// The first broken rule of a layout.
fn fault(request: &PlanRequest, layout: &Layout) -> Option<&'static str> {
    let placed: Vec<(Item, u64)> =
        request.items.iter().zip(&layout.offsets).filter_map(|(item, offset)| Some((*item, (*offset)?))).collect();
    let inside = |(item, offset): &(Item, u64)| offset + item.size <= layout.size && offset % request.alignment == 0;
    if !placed.iter().all(inside) || request.capacity.is_some_and(|capacity| layout.size > capacity) {
        return Some("outside");
    }
    let share = |(a, at_a): &(Item, u64), (b, at_b): &(Item, u64)| {
        a.lifetime.overlaps(b.lifetime) && *at_a < at_b + b.size && *at_b < at_a + a.size
    };
    let overlap = (0..placed.len()).any(|index| placed[..index].iter().any(|other| share(other, &placed[index])));
    overlap.then_some("overlap")
}

#[test]
fn planners_are_found_by_name() {
    for planner in PLANNERS {
        assert_eq!(find_planner(planner.name()).map(Planner::name), Some(planner.name()));
    }
    assert!(find_planner("best").is_none());
}

#[test]
fn the_bytes_of_a_dead_value_are_reused() {
    let chain = request((0..6).map(|step| item(64, step, step + 1)).collect());
    assert_eq!((Naive.plan(&chain).size, Greedy.plan(&chain).size), (384, 128));
}

#[test]
fn an_item_goes_to_the_smallest_gap_that_is_wide_enough() {
    // At step 1 the gaps between the long-lived items are 48 and 16 bytes wide.
    let long = [item(64, 0, 9), item(63, 0, 9), item(62, 0, 9)];
    let brief = [item(48, 0, 0), item(16, 0, 0), item(15, 1, 1), item(47, 1, 1)];
    let request = request(long.into_iter().chain(brief).collect());
    assert_eq!(Greedy.plan(&request).size, 256);
}

/// The values of a convolutional digit classifier: ExecuTorch 1.5 plans 9216 bytes.
#[test]
fn a_small_network_needs_no_more_than_its_widest_step() {
    let values = [
        item(256, 0, 1),
        item(4096, 1, 2),
        item(4096, 2, 3),
        item(4096, 3, 4),
        item(1024, 4, 5),
        item(2048, 4, 4),
        item(2048, 5, 6),
        item(2048, 6, 7),
        item(2048, 7, 8),
        item(512, 8, 10),
        item(1024, 8, 8),
        item(5120, 9, 10),
        item(40, 10, 11),
    ];
    assert_eq!(lower_bound(&values), 8192);
    assert_eq!(Greedy.plan(&request(values.to_vec())).size, 8192);
}

#[test]
fn items_that_exceed_the_bank_are_left_out() {
    let request = PlanRequest { capacity: Some(100), ..request(vec![item(120, 0, 3), item(64, 1, 2), item(40, 2, 2)]) };
    for planner in PLANNERS {
        assert_eq!(planner.plan(&request).offsets, [None, Some(0), None], "{}", planner.name());
    }
}

proptest! {
    #[test]
    fn layouts_are_sound(items in items(), capacity in proptest::option::of(0..1000_u64)) {
        let request = PlanRequest { capacity, ..request(items) };
        for planner in PLANNERS {
            let layout = planner.plan(&request);
            prop_assert_eq!(fault(&request, &layout), None, "{}", planner.name());
            prop_assert!(capacity.is_some() || layout.offsets.iter().all(Option::is_some));
        }
    }

    #[test]
    fn sharing_never_costs_bytes_and_never_beats_the_lower_bound(items in items()) {
        let request = request(items);
        let greedy = Greedy.plan(&request).size;
        // The last item of a layout is not padded, so the choice of the last item may cost less than one alignment.
        prop_assert!(greedy <= Naive.plan(&request).size.next_multiple_of(request.alignment));
        prop_assert!(greedy >= lower_bound(&request.items));
    }

    #[test]
    fn the_layout_does_not_depend_on_the_order_of_the_items(
        (items, shuffled) in items().prop_flat_map(|items| (Just(items.clone()), Just(items).prop_shuffle())),
        capacity in proptest::option::of(0..1000_u64),
    ) {
        let [one, other] = [items, shuffled].map(|items| {
            let request = PlanRequest { capacity, ..request(items) };
            let layout = Greedy.plan(&request);
            let mut places: Vec<_> = request
                .items
                .iter()
                .zip(layout.offsets)
                .map(|(item, offset)| (item.size, item.lifetime.first, item.lifetime.last, offset))
                .collect();
            places.sort_unstable();
            (layout.size, places)
        });
        prop_assert_eq!(one, other);
    }
}
