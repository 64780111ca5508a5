//! What garbage collection removes, and what it leaves.

mod support;

use std::fs::{self, File};
use std::thread;
use std::time::{Duration, SystemTime};

use etbuild_store::{BlobRef, GcPolicy, GcReport, Lookup, MissReason};
use support::{Fixture, key};

const HOUR: Duration = Duration::from_secs(3600);

/// Stores 100 bytes that were last used `hours` ago, as the output of an action.
fn aged(fixture: &Fixture, number: u8, hours: u32) -> BlobRef {
    let blob = fixture.store.put(&[number; 100]).unwrap();
    fixture.store.record(&key(number.into()), &[("out".to_owned(), blob)]).unwrap();
    let file = File::open(fixture.blob(blob.digest)).unwrap();
    file.set_modified(SystemTime::now() - HOUR * hours).unwrap();
    blob
}

fn kept(fixture: &Fixture, blobs: &[BlobRef]) -> Vec<bool> {
    blobs.iter().map(|blob| fixture.blob(blob.digest).exists()).collect()
}

#[test]
fn size_takes_the_longest_unused_first() {
    let fixture = Fixture::new();
    let blobs = [aged(&fixture, 0, 5), aged(&fixture, 1, 9), aged(&fixture, 2, 7), aged(&fixture, 3, 3)];
    let report = fixture.store.gc(&GcPolicy { max_bytes: Some(250), ..GcPolicy::default() }).unwrap();
    assert_eq!(kept(&fixture, &blobs), [true, false, false, true]);
    let expected = GcReport { removed_blobs: 2, removed_bytes: 200, removed_records: 2, kept_bytes: 200 };
    assert_eq!(report, expected);
    assert_eq!(fixture.store.lookup(&key(1)).unwrap(), Lookup::Miss(MissReason::Unrecorded));
    assert!(matches!(fixture.store.lookup(&key(0)).unwrap(), Lookup::Hit(_)));
}

/// Dates the last check of the size to so many hours ago.
fn check_was(fixture: &Fixture, hours: u32) {
    let file = File::create(fixture.store.root().join("v1/checked")).unwrap();
    file.set_modified(SystemTime::now() - HOUR * hours).unwrap();
}

#[test]
fn a_store_over_the_limit_is_collected_once_a_day_and_by_no_build() {
    let fixture = Fixture::new();
    let blobs = [aged(&fixture, 0, 9), aged(&fixture, 1, 7), aged(&fixture, 2, 5), aged(&fixture, 3, 0)];
    let collect = |limit| fixture.store.gc_if_due(limit, || Ok(blobs[..1].to_vec())).unwrap();
    assert_eq!(collect(0), None, "a new store");
    assert_eq!(collect(0), None, "checked just now");
    check_was(&fixture, 25);
    assert_eq!(collect(400), None, "within the limit");
    assert_eq!(collect(0), None, "checked just now");
    check_was(&fixture, 25);
    let lease = fixture.store.lease().unwrap();
    assert_eq!(collect(0), None, "a build runs");
    drop(lease);
    check_was(&fixture, 25);
    assert_eq!(collect(300).map(|report| report.removed_bytes), Some(100));
    assert_eq!(kept(&fixture, &blobs), [true, false, true, true], "the first is a root");
    check_was(&fixture, 25);
    assert_eq!(collect(0).map(|report| report.kept_bytes), Some(200));
    assert_eq!(kept(&fixture, &blobs), [true, false, false, true], "the last was used just now");
}

#[test]
fn age_takes_what_is_older() {
    let fixture = Fixture::new();
    let blobs = [aged(&fixture, 0, 5), aged(&fixture, 1, 9), aged(&fixture, 2, 0)];
    fixture.store.gc(&GcPolicy { max_age: Some(HOUR * 6), ..GcPolicy::default() }).unwrap();
    assert_eq!(kept(&fixture, &blobs), [true, false, true]);
}

#[test]
fn roots_and_what_was_used_within_the_grace_stay_whatever_the_limits() {
    let fixture = Fixture::new();
    let blobs = [aged(&fixture, 0, 9), aged(&fixture, 1, 9), aged(&fixture, 2, 2), aged(&fixture, 3, 0)];
    let strict = GcPolicy { max_bytes: Some(0), max_age: Some(Duration::ZERO), roots: &blobs[..1], grace: HOUR * 4 };
    fixture.store.gc(&strict).unwrap();
    assert_eq!(kept(&fixture, &blobs), [true, false, true, true]);
    fixture.store.gc(&GcPolicy { grace: Duration::ZERO, ..strict }).unwrap();
    assert_eq!(kept(&fixture, &blobs), [true, false, false, false]);
}

#[test]
fn a_use_renews_a_blob() {
    let fixture = Fixture::new();
    let blobs = [aged(&fixture, 0, 9), aged(&fixture, 1, 9), aged(&fixture, 2, 9)];
    assert!(matches!(fixture.store.lookup(&key(0)).unwrap(), Lookup::Hit(_)));
    fixture.store.open_blob(&blobs[1]).unwrap();
    fixture.store.gc(&GcPolicy { max_age: Some(HOUR), ..GcPolicy::default() }).unwrap();
    assert_eq!(kept(&fixture, &blobs), [true, true, false]);
}

#[test]
fn checking_a_blob_is_no_use_of_it() {
    let fixture = Fixture::new();
    let blob = aged(&fixture, 0, 9);
    assert_eq!(fixture.store.verify().unwrap(), []);
    fixture.store.gc(&GcPolicy { max_age: Some(HOUR), ..GcPolicy::default() }).unwrap();
    assert_eq!(kept(&fixture, &[blob]), [false]);
}

#[test]
fn without_limits_only_records_without_blobs_go() {
    let fixture = Fixture::new();
    let blobs = [aged(&fixture, 0, 900), aged(&fixture, 1, 900)];
    fs::remove_file(fixture.blob(blobs[0].digest)).unwrap();
    drop(fixture.store.lock(&key(1).action(), |_| {}).unwrap());
    let report = fixture.store.gc(&GcPolicy::default()).unwrap();
    assert_eq!(report, GcReport { removed_records: 1, kept_bytes: 100, ..GcReport::default() });
    assert_eq!(fs::read_dir(fixture.store.root().join("v1/locks")).unwrap().count(), 0);
}

/// Builds under a lease, as the query engine does.
fn build(fixture: &Fixture, number: u8) {
    let _lease = fixture.store.lease().unwrap();
    let blob = aged(fixture, number, 900);
    assert!(matches!(fixture.store.lookup(&key(number.into())).unwrap(), Lookup::Hit(_)));
    assert_eq!(fixture.store.open_blob(&blob).unwrap()[..], [number; 100]);
}

#[test]
fn a_build_that_holds_a_lease_loses_nothing_to_collections_that_run_all_the_time() {
    let fixture = Fixture::new();
    let greedy = GcPolicy { max_bytes: Some(0), grace: Duration::ZERO, ..GcPolicy::default() };
    let collect = || fixture.store.gc(&greedy).unwrap().removed_blobs;
    let mut removed = 0;
    thread::scope(|scope| {
        let builds = scope.spawn(|| (0..60).for_each(|number| build(&fixture, number)));
        while !builds.is_finished() {
            removed += collect();
        }
    });
    assert_eq!(removed + collect(), 60);
}

#[test]
fn clear_removes_everything_and_the_store_stays_usable() {
    let fixture = Fixture::new();
    aged(&fixture, 0, 0);
    fixture.store.remember("slot", &key(0)).unwrap();
    fixture.store.clear().unwrap();
    let statistics = fixture.store.stat().unwrap();
    assert_eq!((statistics.blobs, statistics.bytes, statistics.records), (0, 0, 0));
    assert_eq!(fixture.store.last("slot"), None);
    aged(&fixture, 0, 0);
    assert!(matches!(fixture.store.lookup(&key(0)).unwrap(), Lookup::Hit(_)));
}
