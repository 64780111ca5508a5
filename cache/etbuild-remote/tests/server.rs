//! The client against the server `buildbox-casd`.

#[path = "support/casd.rs"]
mod casd;

#[path = "support/machine.rs"]
mod machine;

#[path = "support/sharing.rs"]
mod sharing;

use std::fs;

use casd::Casd;
use etbuild_remote::{Access, Event};
use machine::{Machine, action};
use sharing::SIZES;

#[test]
fn results_of_a_machine_reach_another_machine() {
    let Some(casd) = Casd::start() else { return };
    let (one, other) = (Machine::new(&casd.url(), Access::ReadWrite), Machine::new(&casd.url(), Access::Read));
    let made = one.make(&action("a"), &SIZES);
    let found = other.cache.find(&action("a")).unwrap().unwrap();
    assert_eq!(found.outputs, made);
    let here: Vec<bool> = made.iter().map(|(_, blob)| other.store.contains(blob).unwrap()).collect();
    assert_eq!(here, [true, true, false, false, true, false], "large ones are fetched when they are read");
    sharing::reads(&other, &made);
    assert_eq!(other.cache.find(&action("b")).unwrap(), None);
    assert_eq!((one.told(), other.told()), (vec![], vec![]));
}

#[test]
fn hundreds_of_blobs_go_in_several_batches() {
    let Some(casd) = Casd::start() else { return };
    sharing::hundreds_of_blobs(&casd.url());
}

#[test]
fn wrong_truncated_or_extra_bytes_are_discarded_and_reported_once() {
    let Some(casd) = Casd::start() else { return };
    for (name, spoil) in [("flipped", flip as fn(&mut Vec<u8>)), ("short", cut), ("long", stretch)] {
        let one = Machine::new(&casd.url(), Access::ReadWrite);
        let sizes = [3_000_000 + name.len(), 2_000_000 + name.len()];
        let made = one.make(&action(name), &sizes);
        let lengths = sizes.map(|size| size as u64);
        for file in casd.blobs().iter().filter(|file| lengths.contains(&fs::metadata(file).unwrap().len())) {
            let mut bytes = fs::read(file).unwrap();
            spoil(&mut bytes);
            fs::remove_file(file).unwrap();
            fs::write(file, bytes).unwrap();
        }
        let other = Machine::new(&casd.url(), Access::Read);
        let found = other.cache.find(&action(name)).unwrap();
        for (_, blob) in &made {
            assert!(!other.cache.fetch(blob).unwrap(), "{name}");
            assert!(!other.store.contains(blob).unwrap(), "{name}");
        }
        // A server may verify sizes and report the blob as missing.
        let told = other.told();
        assert!(matches!(&told[..], [] | [Event::Wrong { .. }]), "{name}: {told:?}");
        assert!(name != "flipped" || (found.is_some() && told.len() == 1), "{name}: {told:?}");
        assert_eq!(other.cache.find(&action(name)).unwrap(), None, "{name}: it is not believed again");
    }
}

#[expect(clippy::ptr_arg, reason = "ways to damage bytes have one type")]
fn flip(bytes: &mut Vec<u8>) {
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
}

fn cut(bytes: &mut Vec<u8>) {
    bytes.pop();
}

fn stretch(bytes: &mut Vec<u8>) {
    bytes.insert(0, 9);
}

#[test]
fn wrong_bytes_of_a_small_blob_are_a_miss() {
    let Some(casd) = Casd::start() else { return };
    let one = Machine::new(&casd.url(), Access::ReadWrite);
    one.make(&action("a"), &[4321]);
    for file in casd.blobs().iter().filter(|file| fs::metadata(file).unwrap().len() == 4321) {
        let mut bytes = fs::read(file).unwrap();
        flip(&mut bytes);
        fs::remove_file(file).unwrap();
        fs::write(file, bytes).unwrap();
    }
    let other = Machine::new(&casd.url(), Access::Read);
    assert_eq!(other.cache.find(&action("a")).unwrap(), None);
    assert!(matches!(&other.told()[..], [Event::Wrong { .. }]), "{:?}", other.told());
}

#[test]
fn an_action_of_which_a_blob_is_gone_is_a_miss_and_can_be_recorded_again() {
    let Some(casd) = Casd::start() else { return };
    sharing::a_lost_blob(&casd.url(), || casd.blobs());
}

#[test]
fn read_only_access_uploads_nothing() {
    let Some(casd) = Casd::start() else { return };
    let before = (casd.blobs(), casd.results());
    let reader = Machine::new(&casd.url(), Access::Read);
    assert_eq!(reader.cache.find(&action("a")).unwrap(), None);
    reader.make(&action("a"), &SIZES);
    assert_eq!((casd.blobs(), casd.results()), before);
}

#[test]
fn a_lost_server_is_reported_once_and_fails_only_if_required() {
    let Some(mut casd) = Casd::start() else { return };
    for (access, fails) in [(Access::ReadWrite, false), (Access::Required, true)] {
        let machine = Machine::new(&casd.url(), access);
        assert_eq!(machine.cache.find(&action("a")).unwrap(), None);
        assert_eq!(machine.cache.failure(), None);
        casd.kill();
        machine.make(&action("a"), &SIZES);
        machine.make(&action("b"), &SIZES);
        assert_eq!(machine.cache.find(&action("a")).unwrap(), None);
        assert!(matches!(&machine.told()[..], [Event::Lost { .. }]), "{:?}", machine.told());
        assert_eq!(machine.cache.failure().is_some(), fails);
        casd.run();
    }
}

#[test]
fn a_server_that_comes_back_in_time_is_not_lost() {
    let Some(mut casd) = Casd::start() else { return };
    let machine = Machine::new(&casd.url(), Access::ReadWrite);
    machine.make(&action("a"), &[5]);
    casd.kill();
    casd.run();
    assert!(machine.cache.find(&action("a")).unwrap().is_some(), "{:?}", machine.told());
    assert_eq!(machine.told(), []);
}
