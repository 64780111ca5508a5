//! Several processes that want the same result.

mod support;

use std::fs::OpenOptions;
use std::io::Write;
use std::thread;
use std::time::Duration;

use etbuild_store::{Event, GcPolicy, Lookup, Store};
use support::{Fixture, child, child_store, key, say_ready, start};

/// Runs action 1 unless its record exists, as the query engine does; `runs` gets a byte for each run.
fn build(store: &Store) {
    let _guard = store.lock(&key(1).action(), |_| {}).unwrap();
    if let Lookup::Miss(_) = store.lookup(&key(1)).unwrap() {
        let path = store.root().with_file_name("runs");
        OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(b"x").unwrap();
        thread::sleep(Duration::from_millis(50));
        let blob = store.put(b"result").unwrap();
        store.record(&key(1), &[("out".to_owned(), blob)]).unwrap();
    }
}

#[test]
fn child_builds() {
    let Some(store) = child_store() else { return };
    build(&store);
}

#[test]
fn processes_and_threads_that_want_one_action_run_it_once() {
    let fixture = Fixture::new();
    let children: Vec<_> = (0..4).map(|_| child("child_builds", fixture.store.root()).spawn().unwrap()).collect();
    thread::scope(|scope| {
        (0..4).for_each(|_| drop(scope.spawn(|| build(&fixture.store))));
    });
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(std::fs::read(fixture.store.root().with_file_name("runs")).unwrap(), b"x");
}

#[test]
fn child_holds_until_killed() {
    let Some(store) = child_store() else { return };
    let _guard = store.lock(&key(1).action(), |_| {}).unwrap();
    say_ready();
    loop {
        thread::park();
    }
}

#[test]
fn a_waiter_learns_who_holds_and_gets_the_lock_when_that_process_is_killed() {
    let fixture = Fixture::new();
    let mut holder = start(child("child_holds_until_killed", fixture.store.root()));
    let mut seen = None;
    let guard = fixture.store.lock(&key(1).action(), |who| {
        seen = Some((who.pid, who.since.is_some()));
        holder.kill().unwrap();
    });
    guard.unwrap();
    assert_eq!(seen, Some((Some(holder.id()), true)));
    holder.wait().unwrap();
}

#[test]
fn garbage_collection_waits_for_builds_and_says_so() {
    let fixture = Fixture::new();
    let lease = fixture.store.lease().unwrap();
    let second = fixture.store.lease().unwrap();
    thread::scope(|scope| {
        let collection = scope.spawn(|| fixture.store.gc(&GcPolicy::default()));
        while fixture.events().is_empty() && !collection.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(fixture.events(), [Event::WaitingForBuilds]);
        assert!(!collection.is_finished());
        drop((lease, second));
        collection.join().unwrap().unwrap();
    });
}
