//! F28: Ctrl-C and other terminating signals, sent to the process or to its group.
#![cfg(target_os = "linux")]

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::signals::{compilers, is_alive, send};
use crate::support::{self, Place, RECIPE, Ran, files, warm_out};

const BOARD: [&str; 4] = ["deploy", RECIPE, "--target", "pico2"];

/// A deploy with default signal handlers, even if the parent ignores signals, as shells do for background jobs.
fn deploy(place: &Place) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal", support::ETBUILD]).args(BOARD).current_dir(&place.root);
    place.surround(&mut command);
    command
}

/// A deploy in a new process group, and its compilers once they run.
fn compiling(place: &Place) -> (Child, Vec<u32>) {
    let mut child = deploy(place).process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    loop {
        // A compiler, in contrast to a version query: cargo with a child process.
        let started = compilers(child.id());
        if started.len() >= 2 {
            return (child, started);
        }
        assert!(child.try_wait().unwrap().is_none(), "the deploy ended without a compiler");
        thread::sleep(Duration::from_millis(1));
    }
}

/// After the interrupt: no process, no partial file, and a cache from which the next command succeeds.
fn expect_order(place: &Place, status: ExitStatus, started: &[u32]) {
    assert_eq!(status.code(), Some(130));
    let alive: Vec<&u32> = started.iter().filter(|process| is_alive(**process)).collect();
    assert!(alive.is_empty(), "{alive:?} of {started:?} go on");
    assert_eq!(files::paths(&place.out()), [""; 0].map(std::path::PathBuf::from), "no result is half written");
    assert_eq!(place.json("cache verify")["ok"], true);
    assert_eq!(place.json("cache stat")["temporary"], 0);
    Ran::of(&mut place.command(BOARD)).expect(0);
    assert_eq!(files::tree(&place.out().join("digits/pico2")), files::tree(&warm_out().join("digits/pico2")));
}

#[test]
fn an_interrupt_of_the_command_alone_ends_its_compilers_too() {
    let place = Place::cold_with_compiled_crates();
    let (mut child, started) = compiling(&place);
    send("INT", &child.id().to_string());
    expect_order(&place, child.wait().unwrap(), &started);
}

#[test]
fn an_interrupt_of_the_whole_group_ends_all_of_it() {
    let place = Place::cold_with_compiled_crates();
    let (mut child, started) = compiling(&place);
    send("INT", &format!("-{}", child.id()));
    expect_order(&place, child.wait().unwrap(), &started);
}

#[test]
fn an_interrupt_at_any_moment_leaves_a_cache_in_which_the_next_deploy_is_right() {
    let place = Place::cold_with_compiled_crates();
    for milliseconds in [0, 3, 10, 40, 200, 600, 1000] {
        let mut child = deploy(&place).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(milliseconds));
        send("INT", &child.id().to_string());
        let status = child.wait().unwrap();
        // A signal before the command installs its handler ends the command by the default action.
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        assert!(matches!((status.code(), signal), (Some(0 | 130), None) | (None, Some(2))), "{status:?}");
        assert_eq!(place.json("cache verify")["ok"], true, "after {milliseconds} ms");
    }
    Ran::of(&mut place.command(BOARD)).expect(0);
    assert_eq!(files::tree(&place.out().join("digits/pico2")), files::tree(&warm_out().join("digits/pico2")));
}

#[test]
fn an_ignored_hang_up_does_not_end_the_command() {
    let place = Place::warm();
    let mut command = Command::new("sh");
    let line = format!("trap '' HUP; exec '{}' watch {RECIPE} --target pico2 --deploys 1", support::ETBUILD);
    place.surround(command.args(["-c", &line, "sh"]).current_dir(&place.root));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while std::fs::read_to_string(format!("/proc/{}/comm", child.id())).unwrap().trim() != "etbuild" {
        thread::sleep(Duration::from_millis(1));
    }
    send("HUP", &child.id().to_string());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
