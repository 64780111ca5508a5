//! No room left.
//!
//! A limit on the size of files stands for the full disk: the kernel refuses the write half way, as it does when the disk
//! is full, and it needs no rights to set. (That a truly full device is told apart is tested beside the writing code.)

mod support;

use std::ffi::OsStr;
use std::io::Write;

use etbuild_store::{Lookup, StoreError};
use support::{Fixture, child_store, child_through, key};

/// More than the 32 KiB to which the child's files are limited.
const TOO_MUCH: usize = 100_000;

#[test]
fn child_runs_out_of_room() {
    let Some(store) = child_store() else { return };
    let Err(StoreError::Full { path, wanted, .. }) = store.put(&[1; TOO_MUCH]) else { panic!("there was room") };
    assert!(path.starts_with(store.root()) && wanted == TOO_MUCH as u64);
    assert_eq!(store.stat().unwrap().blobs, 0);

    let mut writer = store.writer().unwrap();
    writer.write_all(&[2; TOO_MUCH]).unwrap();
    let error = writer.flush().unwrap_err().downcast::<StoreError>().unwrap();
    assert!(matches!(error, StoreError::Full { .. }) && error.is_transient());
    drop(writer);

    let blob = store.put(b"what is small enough still works").unwrap();
    store.record(&key(1), &[("out".to_owned(), blob)]).unwrap();
}

#[test]
fn a_full_disk_is_a_clear_error_and_the_store_stays_sound() {
    let fixture = Fixture::new();
    let shell = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
    let program = std::env::current_exe().unwrap();
    let arguments = ["-c", shell, "sh"].map(OsStr::new).into_iter().chain([program.as_os_str()]).collect::<Vec<_>>();
    let output = child_through("sh", &arguments, "child_runs_out_of_room", fixture.store.root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(fixture.store.verify().unwrap(), []);
    assert!(matches!(fixture.store.lookup(&key(1)).unwrap(), Lookup::Hit(_)));
    assert_eq!(fixture.store.stat().unwrap().temporary, 1, "only the folder of this process is left");
}
