//! `check` refuses every recipe that `deploy` refuses before compilation, and compiles nothing.

use std::fs;

use crate::support::{self, Place, RECIPE, repository};

/// The codes of the diagnostics of a command that ends with this status.
#[track_caller]
fn codes(place: &Place, words: &str, status: i32) -> Vec<String> {
    let result = place.run(&format!("{words} --output json")).expect(status).json();
    assert_eq!(result["ok"], status == 0, "{result}");
    let found = result["diagnostics"].as_array().unwrap().iter();
    found.map(|found| found["code"].as_str().unwrap().to_owned()).collect()
}

/// The board of an emulator with less memory.
fn board(place: &Place, from: &str, to: &str) -> String {
    let text = fs::read_to_string(repository().join("targets/mps2-an505.yaml")).unwrap();
    assert!(text.contains(from), "{from}");
    let text = text.replace(from, to).replace("name: mps2-an505\n", "name: small\n");
    place.file("small.yaml", text).display().to_string()
}

#[track_caller]
fn refused(place: &Place, words: &str, status: i32, code: &str) {
    for command in ["check", "deploy"] {
        assert_eq!(codes(place, &format!("{command} {words}"), status), [code], "{command}");
    }
    assert!(!place.out().exists());
}

#[test]
fn a_model_that_does_not_fit_the_memory_of_a_board_is_refused() {
    let place = Place::warm();
    let small = board(&place, "0x38000000, size: 4 MiB", "0x38000000, size: 20 KiB");
    refused(&place, &format!("{RECIPE} --target {small}"), 4, "ETB0404");
    let small = board(&place, "0x10000000, size: 4 MiB", "0x10000000, size: 16 KiB");
    refused(&place, &format!("{RECIPE} --target {small}"), 4, "ETB0404");
}

#[test]
fn an_operator_that_the_runtime_lacks_is_refused() {
    let model = "etbuild/etbuild/tests/data/spectrum.pt2 --target linux-x86_64 --set runtime=executorch";
    let place = Place::warm();
    let found = codes(&place, &format!("deploy {model}"), 4);
    assert!(!found.is_empty());
    assert_eq!(codes(&place, &format!("check {model}"), 4), found);
}

#[test]
fn a_damaged_model_is_refused() {
    let place = Place::cold();
    let model = place.file("broken.pt2", "PK no archive");
    assert_eq!(codes(&place, &format!("check {} --target linux-x86_64", model.display()), 1), ["ETB0302"]);
}

/// Neither a compiler nor a network is needed, and a deploy goes on where the check ended.
#[test]
fn a_check_compiles_nothing_and_fills_the_cache() {
    let place = Place::cold();
    let mut command = place.command(["check", RECIPE, "--offline", "--output", "json"]);
    support::Ran::of(command.env("PATH", "")).expect(0);
    assert!(!place.out().exists());
    let plan = place.json(&format!("plan {RECIPE} --target linux-x86_64"));
    let missing = support::stages(&plan, "linux-x86_64", |row| row["state"] == "missing");
    assert_eq!(missing, ["select"]);
}
