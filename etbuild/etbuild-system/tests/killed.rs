//! Whoever runs processes is killed, and cannot end them.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use etbuild_system::{Invocation, RealSystem, System};

/// Says in which file a process of this test is to note what it runs.
const NOTE: &str = "ETBUILD_TEST_NOTE";

/// A process that would go on for long, with a child of the same mind.
const LONG: &str = "sleep 600 & echo $! > \"$0\"; wait";

#[test]
fn what_a_killed_process_runs_is_killed_too() {
    if let Some(note) = std::env::var_os(NOTE) {
        RealSystem::default().run(&Invocation::new("sh").args(["-c", LONG]).arg(note)).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["what_a_killed_process_runs_is_killed_too", "--exact"]).env(NOTE, &note);
    let mut runner = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let long = loop {
        match fs::read_to_string(&note) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
            _ => thread::sleep(Duration::from_millis(1)),
        }
    };
    // It may have begun before anybody watched over it.
    thread::sleep(Duration::from_millis(100));
    runner.kill().unwrap();
    runner.wait().unwrap();
    let start = Instant::now();
    while is_alive(&long) {
        assert!(start.elapsed() < Duration::from_secs(60), "process {long} goes on");
        thread::sleep(Duration::from_millis(1));
    }
}

fn is_alive(process: &str) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|text| !text.contains(") Z"))
}
