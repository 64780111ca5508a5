//! S3: the client against an independent server. The key is in the environment, as for other S3 clients.
#![cfg(feature = "object-stores")]

#[path = "support/machine.rs"]
mod machine;

#[path = "support/rclone.rs"]
mod rclone;

use std::fs;
use std::process::Command;

use etbuild_remote::{Access, Event};
use machine::{Machine, action, bytes};
use rclone::{KEY, Rclone};

const SIZES: [usize; 5] = [0, 1, 70_000, 9_000_000, 3000];

/// The variable that names the test for a child process with a key in its environment.
const INSIDE: &str = "ETBUILD_TEST_INSIDE";

/// Runs a test in a child process with this key; `true` inside the child.
fn with_key(test: &str, (id, secret): (&str, &str)) -> bool {
    if std::env::var_os(INSIDE).is_some_and(|name| name == test) {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(INSIDE, test);
    command.env("AWS_ACCESS_KEY_ID", id).env("AWS_SECRET_ACCESS_KEY", secret);
    assert!(command.status().unwrap().success());
    false
}

#[test]
fn a_bucket_serves_other_machines() {
    if !with_key("a_bucket_serves_other_machines", KEY) {
        return;
    }
    let Some(server) = Rclone::start() else { return };
    let one = Machine::new(&server.url(), Access::ReadWrite);
    let made = one.make(&action("a"), &SIZES);
    assert_eq!(one.told(), []);
    let other = Machine::new(&server.url(), Access::Read);
    let found = other.cache.find(&action("a")).unwrap();
    assert_eq!(found.map(|found| found.outputs), Some(made.clone()), "{:?}", other.told());
    for ((_, blob), size) in made.iter().zip(SIZES) {
        assert!(other.store.contains(blob).unwrap() || other.cache.fetch(blob).unwrap(), "{:?}", other.told());
        assert_eq!(other.store.open_blob(blob).unwrap()[..], bytes(size)[..]);
    }
    assert_eq!(other.cache.find(&action("b")).unwrap(), None);
    assert_eq!(other.told(), []);
}

#[test]
fn damaged_or_missing_objects_are_a_miss() {
    if !with_key("damaged_or_missing_objects_are_a_miss", KEY) {
        return;
    }
    let Some(mut server) = Rclone::start() else { return };
    let made = Machine::new(&server.url(), Access::ReadWrite).make(&action("a"), &[100_000, 200_000]);
    let files = made.iter().map(|(_, blob)| blob.digest.to_string());
    let files: Vec<_> = files.map(|name| server.objects().join("cas").join(&name[..2]).join(&name[2..])).collect();
    fs::write(&files[0], vec![0; 100_000]).unwrap();
    server.restart();
    let reader = Machine::new(&server.url(), Access::Read);
    assert!(reader.cache.find(&action("a")).unwrap().is_some());
    assert!(!reader.cache.fetch(&made[0].1).unwrap());
    assert!(matches!(&reader.told()[..], [Event::Wrong { .. }]), "{:?}", reader.told());
    fs::remove_file(&files[1]).unwrap();
    server.restart();
    let later = Machine::new(&server.url(), Access::ReadWrite);
    assert_eq!(later.cache.find(&action("a")).unwrap(), None);
    assert_eq!(later.told(), []);
}

#[test]
fn a_wrong_key_is_refused_and_reported_once() {
    if !with_key("a_wrong_key_is_refused_and_reported_once", (KEY.0, "another secret")) {
        return;
    }
    let Some(server) = Rclone::start() else { return };
    let machine = Machine::new(&server.url(), Access::ReadWrite);
    assert_eq!(machine.cache.find(&action("a")).unwrap(), None);
    machine.make(&action("a"), &SIZES);
    let [Event::Lost { reason, .. }] = &machine.told()[..] else { panic!("{:?}", machine.told()) };
    assert!(!reason.contains("another secret"), "{reason}");
    assert!(!server.objects().exists());
}
