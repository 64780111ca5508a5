//! Servers that break the promises of the protocol.

#[path = "support/faulty.rs"]
mod faulty;

#[path = "support/machine.rs"]
mod machine;

use std::sync::mpsc;
use std::time::Duration;

use etbuild_remote::{Access, Event, Options};
use etbuild_store::BlobRef;
use faulty::{Fault, Faulty, SURPLUS};
use machine::{Machine, action};

/// The size of a blob that is fetched when a stage reads it, and not with the action.
const LARGE: usize = 100_000;

/// A server that has an action with a large blob, and the blob.
fn server() -> (Faulty, String, BlobRef) {
    let (server, url) = Faulty::start();
    let made = Machine::new(&url, Access::ReadWrite).make(&action("a"), &[LARGE]);
    (server, url, made[0].1)
}

/// Fetches the blob while the server has a fault. Returns whether the blob came, and the events. A client that waits for ever
/// fails the test.
fn fetched(server: &Faulty, url: &str, blob: BlobRef, fault: Fault) -> (bool, Vec<Event>) {
    // A client waits for a silent server as long as this, and a machine under load answers later than in a second.
    let is_silent = matches!(fault, Fault::SilentAtFirst | Fault::SilentHalfway);
    let patience = Duration::from_secs(if is_silent { 3 } else { 30 });
    let machine = Machine::with(&Options { patience, ..Options::new(url) });
    assert!(machine.cache.find(&action("a")).unwrap().is_some(), "{:?}", machine.told());
    server.set(fault);
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let came = machine.cache.fetch(&blob).unwrap();
        assert_eq!(machine.store.contains(&blob).unwrap(), came);
        sender.send((came, machine.told())).unwrap();
    });
    receiver.recv_timeout(Duration::from_secs(120)).expect("the client waits for ever")
}

#[test]
fn a_server_without_a_fault_gives_the_blob() {
    let (server, url, blob) = server();
    assert_eq!(fetched(&server, &url, blob, Fault::None), (true, vec![]));
}

#[test]
fn a_stream_that_is_longer_than_the_blob_is_given_up_where_the_blob_ends() {
    let (server, url, blob) = server();
    let (came, told) = fetched(&server, &url, blob, Fault::TooLong);
    assert!(!came && matches!(told[..], [Event::Wrong { .. }]), "{told:?}");
    // The transport takes some messages ahead of the client.
    assert!(server.sent() < SURPLUS / 2, "{} of {SURPLUS} messages", server.sent());
}

#[test]
fn an_action_of_which_the_server_lacks_a_large_blob_is_a_miss() {
    let (server, url, _) = server();
    server.set(Fault::BlobsGone);
    let machine = Machine::new(&url, Access::Read);
    assert_eq!(machine.cache.find(&action("a")).unwrap(), None);
    assert_eq!(machine.told(), []);
}

#[test]
fn a_stream_that_goes_silent_is_given_up() {
    for fault in [Fault::SilentAtFirst, Fault::SilentHalfway] {
        let (server, url, blob) = server();
        let (came, told) = fetched(&server, &url, blob, fault);
        assert!(!came && matches!(told[..], [Event::Lost { .. }]), "{fault:?}: {told:?}");
    }
}
