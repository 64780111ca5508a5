//! Object stores: a shared folder, and the same folder behind Python's HTTP server.
#![cfg(feature = "object-stores")]

#[path = "support/machine.rs"]
mod machine;
#[path = "support/port.rs"]
mod port;

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use etbuild_remote::{Access, Event};
use machine::{Machine, action, bytes};

const SIZES: [usize; 5] = [0, 1, 70_000, 9_000_000, 3000];

fn url(folder: &Path) -> String {
    format!("file://{}", folder.display())
}

/// A server of the files in a folder.
struct Server(Child);

impl Server {
    fn start(folder: &Path) -> (Self, String) {
        let port = port::free();
        let mut command = Command::new("python3");
        command.args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()]).current_dir(folder);
        let server = Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        (server, format!("http://127.0.0.1:{port}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_shared_folder_serves_other_machines_directly_and_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let one = Machine::new(&url(folder.path()), Access::ReadWrite);
    let made = one.make(&action("a"), &SIZES);
    let (_server, http) = Server::start(folder.path());
    for url in [url(folder.path()), http] {
        let other = Machine::new(&url, Access::Read);
        assert_eq!(other.cache.find(&action("a")).unwrap().map(|found| found.outputs), Some(made.clone()), "{url}");
        for ((_, blob), size) in made.iter().zip(SIZES) {
            assert!(
                other.store.contains(blob).unwrap() || other.cache.fetch(blob).unwrap(),
                "{url}: {:?}",
                other.told()
            );
            assert_eq!(other.store.open_blob(blob).unwrap()[..], bytes(size)[..]);
        }
        assert_eq!(other.cache.find(&action("b")).unwrap(), None);
        assert_eq!(other.told(), [], "{url}");
    }
    assert_eq!(one.told(), []);
}

#[test]
fn wrong_objects_are_discarded() {
    let folder = tempfile::tempdir().unwrap();
    let one = Machine::new(&url(folder.path()), Access::ReadWrite);
    let made = one.make(&action("a"), &[100_000]);
    let name = made[0].1.digest.to_string();
    let file = folder.path().join("cas").join(&name[..2]).join(&name[2..]);
    for spoiled in [vec![0; 100_000], vec![0; 99_999], Vec::new()] {
        fs::write(&file, &spoiled).unwrap();
        let other = Machine::new(&url(folder.path()), Access::Read);
        assert!(other.cache.find(&action("a")).unwrap().is_some());
        assert!(!other.cache.fetch(&made[0].1).unwrap());
        assert!(matches!(&other.told()[..], [Event::Wrong { .. }]), "{}: {:?}", spoiled.len(), other.told());
    }
}

#[test]
fn a_read_only_web_server_is_reported_once_and_still_read() {
    let folder = tempfile::tempdir().unwrap();
    let one = Machine::new(&url(folder.path()), Access::ReadWrite);
    let made = one.make(&action("a"), &SIZES);
    let (_server, http) = Server::start(folder.path());
    let other = Machine::new(&http, Access::ReadWrite);
    other.make(&action("b"), &[17]);
    other.make(&action("c"), &[18]);
    assert!(matches!(&other.told()[..], [Event::NotStored { .. }]), "{:?}", other.told());
    assert_eq!(other.cache.find(&action("a")).unwrap().map(|found| found.outputs), Some(made));
}
