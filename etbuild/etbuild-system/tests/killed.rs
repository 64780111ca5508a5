//! Killing etbuild ends its process groups.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use etbuild_system::{Invocation, RealSystem, System};

/// The variable with the file in which a child process of this test writes its process ids.
const NOTE: &str = "ETBUILD_TEST_NOTE";

/// A process that would go on for long, with a child of the same mind.
const LONG: &str = "sleep 600 & echo $! > \"$0\"; wait";

#[test]
fn child_processes_of_a_killed_process_are_killed() {
    if let Some(note) = std::env::var_os(NOTE) {
        RealSystem::default().run(&Invocation::new("sh").args(["-c", LONG]).arg(note)).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child_processes_of_a_killed_process_are_killed", "--exact"]).env(NOTE, &note);
    let mut runner = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let long = loop {
        match fs::read_to_string(&note) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
            _ => thread::sleep(Duration::from_millis(1)),
        }
    };
    // The group may start before the watchdog watches.
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
