//! Processes that die while they write.

mod support;

use std::fs;
use std::thread;
use std::time::Duration;

use etbuild_store::{ActionKey, Digest, Event, Finding, GcPolicy, Lookup, Store};
use support::{Fixture, child, child_store, key, say_ready, start};

/// How many different actions the writers run over and over.
const ACTIONS: u64 = 48;

/// How many writers are killed.
const KILLS: u64 = 40;

/// What action `number` makes: from nothing to half a megabyte.
fn output(number: u64) -> Vec<u8> {
    let length = (number * number * 229) as usize;
    (0..length).map(|position| (position as u64 * 31 + number) as u8).collect()
}

/// Not random, but of no pattern that matters here (a linear congruential generator, Knuth's constants).
fn scramble(seed: u64) -> u64 {
    seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 33
}

fn run_action(store: &Store, number: u64) {
    let _guard = store.lock(&key(number).action(), |_| {}).unwrap();
    store.forget(&key(number).action());
    let blob = match number % 2 {
        0 => store.put(&output(number)).unwrap(),
        _ => {
            let mut writer = store.writer().unwrap();
            output(number).chunks(70_000).for_each(|piece| writer.append(piece).unwrap());
            writer.finish().unwrap()
        }
    };
    store.record(&key(number), &[("out".to_owned(), blob)]).unwrap();
    store.remember("slot", &key(number)).unwrap();
}

#[test]
fn child_writes_until_killed() {
    let Some(store) = child_store() else { return };
    let mut seed = u64::from(std::process::id());
    say_ready();
    loop {
        seed = scramble(seed);
        run_action(&store, seed % ACTIONS);
    }
}

/// The number of actions that hit, each of them with the right bytes.
fn check_every_hit(store: &Store) -> u64 {
    let hits = (0..ACTIONS).filter(|number| match store.lookup(&key(*number)).unwrap() {
        Lookup::Hit(result) => {
            let blob = store.open_blob(&result.output("out").unwrap()).unwrap();
            assert_eq!(&blob[..], output(*number), "action {number}");
            true
        }
        Lookup::Miss(_) => false,
    });
    hits.count() as u64
}

#[test]
fn killed_at_any_moment_writers_leave_only_whole_blobs_and_true_records() {
    let fixture = Fixture::new();
    (0..ACTIONS).for_each(|number| run_action(&fixture.store, number));
    for kill in 0..KILLS {
        let mut writer = start(child("child_writes_until_killed", fixture.store.root()));
        thread::sleep(Duration::from_micros(scramble(kill) % 15_000));
        writer.kill().unwrap();
        writer.wait().unwrap();
        assert_eq!(fixture.store.verify().unwrap(), [], "after kill {kill}");
        check_every_hit(&fixture.store);
    }
    assert!(check_every_hit(&fixture.store) >= ACTIONS - KILLS, "a kill costs at most the action under way");
    assert_eq!(fixture.events(), []);
    let reopened = Store::open(fixture.store.root()).unwrap();
    assert_eq!(reopened.stat().unwrap().temporary, 1, "only the folder of this process is left");
}

#[test]
fn child_collects_until_killed() {
    let Some(store) = child_store() else { return };
    say_ready();
    let policy = GcPolicy { max_bytes: Some(1 << 20), grace: Duration::ZERO, ..GcPolicy::default() };
    loop {
        (0..ACTIONS).for_each(|number| run_action(&store, number));
        store.gc(&policy).unwrap();
    }
}

#[test]
fn killed_at_any_moment_garbage_collection_leaves_only_whole_blobs_and_true_records() {
    let fixture = Fixture::new();
    for kill in 0..KILLS / 2 {
        let mut collector = start(child("child_collects_until_killed", fixture.store.root()));
        thread::sleep(Duration::from_micros(scramble(kill) % 60_000));
        collector.kill().unwrap();
        collector.wait().unwrap();
        check_every_hit(&fixture.store);
        let findings = fixture.store.verify().unwrap();
        assert!(findings.iter().all(|finding| matches!(finding, Finding::DanglingRecord { .. })), "{findings:?}");
    }
    assert_eq!(fixture.events(), []);
}

#[test]
fn child_dies_half_way_through_a_blob() {
    let Some(store) = child_store() else { return };
    let mut writer = store.writer().unwrap();
    writer.append(&vec![1; 1 << 20]).unwrap();
    let _guard = store.lock(&ActionKey(Digest::of(b"held")), |_| {}).unwrap();
    say_ready();
    std::process::abort();
}

#[test]
fn what_a_dead_process_left_is_swept_at_open_and_its_lock_is_free() {
    let fixture = Fixture::new();
    let mut live = fixture.store.writer().unwrap();
    live.append(&vec![2; 1 << 20]).unwrap();
    start(child("child_dies_half_way_through_a_blob", fixture.store.root())).wait().unwrap();
    assert_eq!(fixture.store.stat().unwrap().temporary, 2);

    let (sender, swept) = std::sync::mpsc::channel();
    let observer = std::sync::Arc::new(move |event: &Event| sender.send(event.clone()).unwrap());
    let reopened = Store::open_observed(fixture.store.root(), observer).unwrap();
    assert!(matches!(swept.try_recv().unwrap(), Event::TemporarySwept { .. }));
    assert_eq!(reopened.stat().unwrap().temporary, 1, "the live writer's is kept");
    reopened.lock(&ActionKey(Digest::of(b"held")), |holder| panic!("held by {holder:?}")).unwrap();

    let blob = live.finish().unwrap();
    assert_eq!(reopened.open_blob(&blob).unwrap().len(), 1 << 20);
}

#[test]
fn a_writer_that_is_dropped_leaves_nothing() {
    let fixture = Fixture::new();
    let mut writer = fixture.store.writer().unwrap();
    writer.append(b"never finished").unwrap();
    drop(writer);
    assert_eq!(fixture.store.stat().unwrap().blobs, 0);
    let scratch = fs::read_dir(fixture.store.root().join("v1/tmp")).unwrap().next().unwrap().unwrap().path();
    let names: Vec<_> = fs::read_dir(scratch).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["owner"]);
}
