//! Commands that are killed at any moment, and commands that run at the same time.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::support::{MODEL, Place, RECIPE, Ran, files, warm_out};

const INPUTS: &str = "examples/digits/test.safetensors";

/// Not random, but of no pattern that matters here (a linear congruential generator, Knuth's constants).
fn scramble(seed: u64) -> u64 {
    seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 33
}

/// Starts a command and kills the process after this time.
fn kill_after(command: &mut Command, time: Duration) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(time);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// `run` compiles the model as `deploy` does, up to the program file.
fn compile(place: &Place) -> (Command, PathBuf) {
    let outputs = place.path().join("outputs.safetensors");
    let words = ["run", MODEL, "--inputs", INPUTS, "--outputs"].map(OsStr::new);
    (place.command(words.into_iter().chain([outputs.as_os_str()])), outputs)
}

#[test]
fn a_killed_compilation_leaves_a_valid_cache() {
    let undisturbed = Place::cold();
    let (mut command, outputs) = compile(&undisturbed);
    Ran::of(&mut command).expect(0);
    let (expected, blobs) = (fs::read(outputs).unwrap(), files::tree(&undisturbed.cache().join("v1/cas")));
    for kill in 0..40 {
        let place = Place::cold();
        kill_after(&mut compile(&place).0, Duration::from_micros(scramble(kill) % 60_000));
        assert_eq!(place.json("cache verify")["ok"], true, "kill {kill}");
        let (mut command, outputs) = compile(&place);
        Ran::of(&mut command).expect(0);
        assert_eq!(fs::read(outputs).unwrap(), expected, "kill {kill}");
        assert_eq!(files::tree(&place.cache().join("v1/cas")), blobs, "kill {kill}");
        assert_eq!(place.json("cache stat")["temporary"], 0, "kill {kill}: what was half written is swept");
    }
}

#[test]
fn a_killed_link_runs_again() {
    let place = Place::cold_with_compiled_crates();
    let words = ["deploy", RECIPE, "--target", "pico2"];
    for milliseconds in [150, 400, 700, 1100] {
        kill_after(&mut place.command(words), Duration::from_millis(milliseconds));
        assert_eq!(place.json("cache verify")["ok"], true, "after {milliseconds} ms");
    }
    Ran::of(&mut place.command(words)).expect(0);
    assert_eq!(files::tree(&place.out().join("digits/pico2")), files::tree(&warm_out().join("digits/pico2")));
}

#[test]
fn a_deploy_killed_while_writing_results_is_completed_by_the_next() {
    let place = Place::warm();
    for kill in 0..20 {
        fs::remove_dir_all(place.out()).ok();
        kill_after(&mut place.command(["deploy", RECIPE]), Duration::from_micros(scramble(kill) % 25_000));
        place.run(&format!("deploy {RECIPE}")).expect(0);
        let mut results = files::tree(&place.out());
        results.retain(|path, _| !is_hidden(path));
        assert!(results == files::tree(&warm_out()), "kill {kill}");
    }
}

/// Whether a file has the temporary name before the rename.
fn is_hidden(path: &Path) -> bool {
    path.file_name().unwrap().to_str().unwrap().starts_with('.')
}

#[test]
fn a_killed_garbage_collection_leaves_a_valid_cache() {
    let (place, folder) = (Place::warm(), Place::cold());
    for kill in 0..10 {
        for blob in files::paths(&place.cache().join("v1/cas")) {
            age(&blob);
        }
        kill_after(
            &mut place.command(["cache", "gc", "--max-size", "100 KiB"]),
            Duration::from_micros(scramble(kill) % 20_000),
        );
        let (mut command, outputs) = compile(&place);
        Ran::of(&mut command).expect(0);
        let (mut command, expected) = compile(&folder);
        Ran::of(&mut command).expect(0);
        assert_eq!(fs::read(outputs).unwrap(), fs::read(expected).unwrap(), "kill {kill}");
    }
    assert_eq!(place.json("cache gc")["removed_blobs"], 0, "records that lost a blob are gone");
    assert_eq!(place.json("cache verify")["ok"], true);
}

/// Sets a blob's last use to a day ago.
fn age(blob: &Path) {
    let time = std::time::SystemTime::now() - Duration::from_secs(24 * 3600);
    fs::File::open(blob).unwrap().set_modified(time).unwrap();
}

#[test]
fn two_deploys_at_once_do_every_stage_once() {
    let place = Place::cold_with_compiled_crates();
    let start = || -> Child {
        let words = ["deploy", RECIPE, "--target", "linux-x86_64", "--target", "pico2", "--output", "json"];
        place.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let outputs = [start(), start()].map(|child| child.wait_with_output().unwrap());
    let results = outputs.each_ref().map(result);
    let mut runs: Vec<String> = results.iter().flat_map(runs).collect();
    let count = runs.len();
    runs.sort();
    runs.dedup();
    assert_eq!(runs.len(), count, "a stage ran twice: {runs:?}");
    // Both targets share import and lower; a board has a separate plan, program file and binary.
    assert!(
        ["import", "lower", "plan", "emit", "select", "link", "verify"]
            .iter()
            .all(|stage| runs.iter().any(|run| run.starts_with(stage)))
    );
    for target in ["linux-x86_64", "pico2"] {
        let folder = PathBuf::from("digits").join(target);
        assert_eq!(files::tree(&place.out().join(&folder)), files::tree(&warm_out().join(&folder)), "{target}");
    }
}

fn result(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The stages of a result that ran, with their keys; a stage that several units share counts once.
fn runs(result: &Value) -> Vec<String> {
    let rows = result["units"].as_array().unwrap().iter().flat_map(|unit| unit["stages"].as_array().unwrap());
    let ran = rows.filter(|row| row["cached"] == false);
    let mut runs: Vec<String> = ran.map(|row| format!("{} {}", row["stage"].as_str().unwrap(), row["key"])).collect();
    runs.sort();
    runs.dedup();
    runs
}
