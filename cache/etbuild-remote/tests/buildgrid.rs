//! The client against the server BuildGrid, a Python implementation.

#[path = "support/buildgrid.rs"]
mod buildgrid;

#[path = "support/machine.rs"]
mod machine;

#[path = "support/sharing.rs"]
mod sharing;

use std::fs;

use buildgrid::BuildGrid;
use etbuild_remote::{Access, Event, Execution, Job, Options};
use machine::{Machine, action};
use sharing::SIZES;

#[test]
fn results_of_a_machine_reach_another_machine() {
    let Some(server) = BuildGrid::start() else { return };
    let (one, other) = (Machine::new(&server.url(), Access::ReadWrite), Machine::new(&server.url(), Access::Read));
    let made = one.make(&action("a"), &SIZES);
    assert_eq!(other.cache.find(&action("a")).unwrap().map(|found| found.outputs), Some(made.clone()));
    sharing::reads(&other, &made);
    assert_eq!(other.cache.find(&action("b")).unwrap(), None);
    assert_eq!((one.told(), other.told()), (vec![], vec![]));
}

#[test]
fn hundreds_of_blobs_go_in_several_batches() {
    let Some(server) = BuildGrid::start() else { return };
    sharing::hundreds_of_blobs(&server.url());
}

#[test]
fn wrong_bytes_are_discarded_and_reported_once() {
    let Some(server) = BuildGrid::start() else { return };
    let made = Machine::new(&server.url(), Access::ReadWrite).make(&action("a"), &[3_000_000]);
    for file in server.blobs().iter().filter(|file| fs::metadata(file).unwrap().len() == 3_000_000) {
        let mut bytes = fs::read(file).unwrap();
        bytes[1_500_000] ^= 1;
        fs::write(file, bytes).unwrap();
    }
    let other = Machine::new(&server.url(), Access::Read);
    assert!(other.cache.find(&action("a")).unwrap().is_some());
    assert!(!other.cache.fetch(&made[0].1).unwrap() && !other.store.contains(&made[0].1).unwrap());
    assert!(matches!(&other.told()[..], [Event::Wrong { .. }]), "{:?}", other.told());
    assert_eq!(other.cache.find(&action("a")).unwrap(), None, "it is not believed again");
}

#[test]
fn a_result_of_which_a_blob_is_gone_is_a_miss_and_can_be_recorded_again() {
    let Some(server) = BuildGrid::start() else { return };
    sharing::a_lost_blob(&server.url(), || server.blobs());
}

#[test]
fn a_server_accepts_only_valid_tokens() {
    let Some(server) = BuildGrid::start_guarded() else { return };
    let machine = |token| Machine::with(&Options { token, ..Options::new(&server.url()) });
    let made = machine(Some(server.token(true))).make(&action("a"), &SIZES);
    let one = machine(Some(server.token(true)));
    assert_eq!(one.cache.find(&action("a")).unwrap().map(|found| found.outputs), Some(made));
    assert_eq!(one.told(), []);
    for token in [None, Some(server.token(false))] {
        let other = machine(token);
        assert_eq!(other.cache.find(&action("a")).unwrap(), None);
        assert!(matches!(&other.told()[..], [Event::Lost { .. }]), "{:?}", other.told());
    }
}

#[test]
fn a_server_without_execution_is_asked_once_and_still_read() {
    let Some(server) = BuildGrid::start() else { return };
    let machine = Machine::with_workers(&server.url(), Execution::default());
    let job = Job { arguments: vec!["true".to_owned()], ..Job::default() };
    assert_eq!((machine.cache.execute(&job), machine.cache.execute(&job)), (None, None));
    assert!(matches!(&machine.told()[..], [Event::NotExecuted { .. }]), "{:?}", machine.told());
    let made = machine.make(&action("a"), &[5]);
    let other = Machine::new(&server.url(), Access::Read);
    assert_eq!(other.cache.find(&action("a")).unwrap().unwrap().outputs, made);
}

#[test]
fn a_lost_server_is_reported_once() {
    let Some(mut server) = BuildGrid::start() else { return };
    let machine = Machine::new(&server.url(), Access::Required);
    assert_eq!(machine.cache.find(&action("a")).unwrap(), None);
    server.kill();
    machine.make(&action("a"), &SIZES);
    assert_eq!(machine.cache.find(&action("b")).unwrap(), None);
    assert!(matches!(&machine.told()[..], [Event::Lost { .. }]), "{:?}", machine.told());
    assert!(machine.cache.failure().is_some());
}
