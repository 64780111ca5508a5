//! However many jobs there are, two stages at a time are at work on this machine.

#[path = "support/engine.rs"]
mod engine;
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use engine::Greedy;
use etbuild_backend::Blob;
use etbuild_engine::Event;
use support::Place;

/// Stages that are at work, the most that were, and those that were in all.
static AT_WORK: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static ALL: AtomicUsize = AtomicUsize::new(0);

/// An engine that takes its time, in which others of its kind may begin.
const SLOW: Greedy = Greedy { name: "slow", lower: take_time };

fn take_time() -> Blob {
    MOST.fetch_max(AT_WORK.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
    thread::sleep(Duration::from_millis(200));
    AT_WORK.fetch_sub(1, Ordering::SeqCst);
    ALL.fetch_add(1, Ordering::SeqCst);
    Blob::default()
}

#[test]
fn two_stages_at_a_time_are_at_work_whatever_the_number_of_jobs() {
    let place = Place::with_targets(&["somewhere"]);
    let schemes = ["float", "int8-weights", "int4-weights", "dynamic-int8", "8da4w"];
    let recipe = |scheme: &&str| {
        let options = format!("quantize: {{ scheme: {scheme} }}\npartition: [slow]");
        place.recipe(&format!("net-{scheme}"), &options, &["somewhere"])
    };
    let recipes: Vec<_> = schemes.iter().map(recipe).collect();
    place.deploy(&recipes, &[&SLOW], Arc::new(|_: &Event| {}));
    assert!(ALL.load(Ordering::SeqCst) >= 4, "programs that differ are partitioned each for itself");
    assert_eq!(MOST.load(Ordering::SeqCst), 2);
}
