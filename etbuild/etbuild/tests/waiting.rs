//! F22: a command that waits for a stage of another process reports that process.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use etbuild_store::{ActionKey, Store};

use crate::support::signals::send;
use crate::support::{Place, RECIPE, files, unit, warm_out};

const BOARD: [&str; 4] = ["deploy", RECIPE, "--target", "pico2"];

/// Starts a deploy, whose talk can be read.
fn start(place: &Place) -> Child {
    place.command(BOARD).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until a command waits for a lock.
fn until_it_waits(child: &mut Child) {
    let process = child.id().to_string();
    let waits = |line: &str| line.contains("->") && line.split_whitespace().any(|word| word == process);
    while !fs::read_to_string("/proc/locks").unwrap().lines().any(waits) {
        assert!(child.try_wait().unwrap().is_none(), "it ended and waited for nobody");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The messages about waiting of a command that succeeds.
fn said(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{talk}");
    talk.lines().filter(|line| line.contains("waiting")).collect()
}

#[test]
fn a_waiting_command_reports_the_process_and_its_run_time() {
    let place = Place::warm();
    fs::remove_dir_all(place.cache().join("v1/ac")).unwrap();
    let plan = place.json(&format!("plan {RECIPE} --target pico2"));
    let rows = unit(&plan, "pico2")["stages"].as_array().unwrap();
    let import = rows.iter().find(|row| row["stage"] == "import").unwrap()["key"].as_str().unwrap();
    let store = Store::open(&place.cache()).unwrap();
    let held = store.lock(&ActionKey(import.parse().unwrap()), |_| panic!("nobody else is here")).unwrap();
    let mut waiter = start(&place);
    until_it_waits(&mut waiter);
    drop(held);
    let line = said(waiter);
    let (who, since) = line.split_once(", which has run the same stage for ").unwrap_or_else(|| panic!("{line}"));
    assert_eq!(who, format!("import: waiting for process {}", std::process::id()));
    assert!(since.strip_suffix(" s").is_some_and(|seconds| seconds.parse::<u64>().is_ok()), "{line}");
}

/// Stops a process in the middle of a stage, while the process holds a stage's lock.
fn stop_in_a_stage(place: &Place, process: u32) {
    let locks = place.cache().join("v1/locks");
    let holds = || {
        let texts = files::paths(&locks).into_iter().map(|lock| fs::read_to_string(lock).unwrap_or_default());
        texts.into_iter().any(|text| text.starts_with(&format!("{process}-")))
    };
    loop {
        if holds() {
            send("STOP", &process.to_string());
            if holds() {
                return;
            }
            send("CONT", &process.to_string());
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_command_that_waits_for_a_stopped_deploy_names_its_process_and_continues_after_its_death() {
    let place = Place::cold_with_compiled_crates();
    let mut first = start(&place);
    stop_in_a_stage(&place, first.id());
    let mut second = start(&place);
    until_it_waits(&mut second);
    first.kill().unwrap();
    first.wait().unwrap();
    let said = said(second);
    assert!(said.contains(&format!("waiting for process {},", first.id())), "{said}");
    assert_eq!(files::tree(&place.out().join("digits/pico2")), files::tree(&warm_out().join("digits/pico2")));
}
