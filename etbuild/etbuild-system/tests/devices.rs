//! Devices and pipes as places for results.
#![cfg(unix)]

use std::os::unix::fs::FileTypeExt;
use std::process::Command;
use std::{fs, thread};

use etbuild_system::{RealSystem, System};

#[test]
fn a_pipe_takes_the_bytes_and_stays_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let end = pipe.clone();
    let reader = thread::spawn(move || fs::read(end).unwrap());
    RealSystem::default().write(&pipe, b"result", false).unwrap();
    assert_eq!(reader.join().unwrap(), b"result");
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
}
