//! What the tests share: stores in temporary folders, heard events, and processes that are copies of the test program.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use etbuild_store::{Digest, Event, Key, KeyBuilder, Store};
use tempfile::TempDir;

/// The variable that tells a child test in which store to play its part.
const CHILD: &str = "ETBUILD_STORE_TEST_CHILD";

/// The line by which a child says that it is ready.
const READY: &str = "child is ready";

/// A store in a folder of its own, and all that it says.
pub struct Fixture {
    pub folder: TempDir,
    pub store: Store,
    pub events: Arc<Mutex<Vec<Event>>>,
}

impl Fixture {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&events);
        let observer = Arc::new(move |event: &Event| heard.lock().unwrap().push(event.clone()));
        let store = Store::open_observed(&folder.path().join("store"), observer).unwrap();
        Self { folder, store, events }
    }

    pub fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }

    /// The path of a blob, as the documented layout has it.
    pub fn blob(&self, digest: Digest) -> PathBuf {
        sharded(&self.store.root().join("v1/cas"), digest)
    }

    pub fn record(&self, key: &Key) -> PathBuf {
        sharded(&self.store.root().join("v1/ac"), key.action().0)
    }
}

fn sharded(folder: &Path, digest: Digest) -> PathBuf {
    let name = digest.to_string();
    folder.join(&name[..2]).join(&name[2..])
}

pub fn key(number: u64) -> Key {
    KeyBuilder::new("test", 1).option("number", number).finish()
}

/// Changes a file that the store has made read-only.
pub fn tamper(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(path, bytes).unwrap();
}

/// A command that runs one test of this test program, as a child that plays its part in the store at `root`.
pub fn child(test: &str, root: &Path) -> Command {
    child_through(std::env::current_exe().unwrap(), &[], test, root)
}

/// The same through another program, which gets `arguments` and then this program's command line.
pub fn child_through(program: impl AsRef<OsStr>, arguments: &[&OsStr], test: &str, root: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).args(["--exact", test, "--nocapture"]).env(CHILD, root);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// In a child, the store to play in; in the parent's own run of the test, `None`.
pub fn child_store() -> Option<Store> {
    let root = std::env::var_os(CHILD)?;
    Some(Store::open(Path::new(&root)).unwrap())
}

/// In a child, lets [`start`] return.
#[allow(clippy::print_stdout, reason = "the parent reads it")]
pub fn say_ready() {
    println!("{READY}");
}

/// Starts a child and returns when it has said that it is ready.
pub fn start(mut command: Command) -> Child {
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with(READY)), "the child ended early");
    child
}
