//! Checks of machines that share a server, for every kind of server.

use std::fs;
use std::path::PathBuf;

use etbuild_remote::Access;
use etbuild_store::BlobRef;

use crate::machine::{Machine, action, bytes};

/// Sizes of test blobs from empty to several megabytes; [`LOST`] is one of these sizes.
pub const SIZES: [usize; 6] = [0, 1, 70_000, 5_000_000, 3000, 70_000];

const LOST: u64 = 5_000_000;

/// A machine downloads blobs of [`SIZES`] that another machine uploaded.
pub fn reads(machine: &Machine, made: &[(String, BlobRef)]) {
    for ((_, blob), size) in made.iter().zip(SIZES) {
        assert!(machine.store.contains(blob).unwrap() || machine.cache.fetch(blob).unwrap());
        assert_eq!(machine.store.open_blob(blob).unwrap()[..], bytes(size)[..]);
    }
}

/// Hundreds of blobs, which go in several batches, come back.
pub fn hundreds_of_blobs(url: &str) {
    let (one, other) = (Machine::new(url, Access::ReadWrite), Machine::new(url, Access::Read));
    let sizes: Vec<usize> = (0..400).map(|index| 20_000 + index * 7).collect();
    let made = one.make(&action("a"), &sizes);
    assert_eq!(other.cache.find(&action("a")).unwrap().unwrap().outputs, made);
    let there = made.iter().all(|(_, blob)| other.store.contains(blob).unwrap() || other.cache.fetch(blob).unwrap());
    assert!(there && other.told().is_empty());
}

/// A result whose blob the server has lost is a miss, and can be uploaded again. `blobs` are the server's files.
pub fn a_lost_blob(url: &str, blobs: impl Fn() -> Vec<PathBuf>) {
    Machine::new(url, Access::ReadWrite).make(&action("a"), &SIZES);
    let lost = blobs().into_iter().find(|file| fs::metadata(file).unwrap().len() == LOST).unwrap();
    fs::remove_file(lost).unwrap();
    let other = Machine::new(url, Access::ReadWrite);
    assert_eq!(other.cache.find(&action("a")).unwrap(), None);
    let made = other.make(&action("a"), &SIZES);
    let third = Machine::new(url, Access::Read);
    assert_eq!(third.cache.find(&action("a")).unwrap().unwrap().outputs, made);
    assert_eq!((other.told(), third.told()), (vec![], vec![]));
}
