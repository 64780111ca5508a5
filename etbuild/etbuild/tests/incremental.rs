//! The stages that a change reruns.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::support::{self, EMULATED, MODEL, Place, RECIPE, Ran, archive, files, not_cached, repository, stages};

const ALL: [&str; 4] = ["linux-x86_64", "linux-aarch64", "mps2-an505", "pico2"];

/// Wrappers of the programs that a deploy may start, which log their calls.
struct Recorders {
    folder: PathBuf,
    log: PathBuf,
}

impl Recorders {
    fn new(place: &Place) -> Self {
        let (folder, log) = (place.path().join("bin"), place.path().join("calls"));
        fs::create_dir(&folder).unwrap();
        fs::write(&log, "").unwrap();
        let path = std::env::var_os("PATH").unwrap();
        for name in ["rustc", "cargo", "rustup", "cc", "ld", "qemu-aarch64", "qemu-system-arm"] {
            let real = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.exists());
            real.iter().for_each(|real| record(&folder.join(name), real, &log));
        }
        Self { folder, log }
    }

    /// Puts the scripts first.
    fn enter(&self, command: &mut Command) {
        let path = std::env::var_os("PATH").unwrap();
        let folders = std::iter::once(self.folder.clone()).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).unwrap());
    }

    fn calls(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }
}

fn record(script: &Path, real: &Path, log: &Path) {
    let text = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\nexec '{}' \"$@\"\n", log.display(), real.display());
    fs::write(script, text).unwrap();
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A copy of the recipe and its data in another folder; commands run there.
fn checkout(place: &mut Place) {
    for part in ["recipes", "examples"] {
        files::copy(&repository().join(part), &place.path().join("checkout").join(part));
    }
    place.root = place.path().join("checkout");
}

#[track_caller]
fn assert_all_cached(result: &serde_json::Value) {
    for target in ALL {
        assert_eq!(not_cached(result, target), [""; 0], "{target}");
    }
}

#[test]
fn a_second_deploy_starts_no_process() {
    let place = Place::warm();
    let recorders = Recorders::new(&place);
    let deploy = |folder: &str| {
        let mut command = place.command(["deploy", RECIPE, "--output", "json"]);
        recorders.enter(&mut command);
        // Binaries run in a temporary folder; an invalid folder makes every run fail.
        Ran::of(command.env("TMPDIR", place.path().join(folder))).expect(0).json()
    };
    deploy("cache");
    let first = recorders.calls();
    for program in ["bin/rustc", "bin/cc", "bin/qemu-aarch64", "bin/qemu-system-arm"] {
        assert!(first.contains(program), "the first deploy on this PATH looks at {program}:\n{first}");
    }
    assert_all_cached(&deploy("no-such-folder"));
    assert_eq!(recorders.calls(), first);
}

#[test]
fn a_changed_tolerance_reruns_no_stage() {
    assert_all_cached(&Place::warm().json(&format!("deploy {RECIPE} --set verify.tolerance=1e-3")));
}

#[test]
fn a_comment_a_new_time_and_another_folder_rerun_no_stage() {
    let mut place = Place::warm();
    checkout(&mut place);
    files::change(&place.root.join(RECIPE), |text| text.extend_from_slice(b"# Nobody reads this.\n"));
    let model = fs::File::options().append(true).open(place.root.join(MODEL)).unwrap();
    model.set_modified(SystemTime::now() + Duration::from_secs(3600)).unwrap();
    assert_all_cached(&place.json(&format!("deploy {RECIPE}")));
}

#[test]
fn another_planner_reruns_the_plan_and_later_stages() {
    let place = Place::warm();
    let naive = format!("{RECIPE} --set memory.planner=naive");
    let plan = place.json(&format!("plan {naive}"));
    for target in EMULATED {
        let rows = support::unit(&plan, target)["stages"].as_array().unwrap();
        let row = rows.iter().find(|row| row["stage"] == "plan").unwrap();
        assert_eq!(row["state"], "missing");
        let difference = row["difference"].as_str().unwrap();
        assert_eq!(difference, "option memory.planner: \"greedy\" -> \"naive\"");
        assert_eq!(stages(&plan, target, |row| row["state"] == "cached"), ["import", "lower", "delegate"]);
    }
    let explained = place.run(&format!("explain {naive} plan")).expect(0).stdout;
    assert!(explained.lines().skip(1).all(|line| line.contains("\"greedy\" -> \"naive\"")), "{explained}");

    let result = place.json(&format!("deploy {naive} --target linux-x86_64 --target mps2-an505"));
    // A hosted binary learns the plan from the program file; firmware carries program file and arena.
    assert_eq!(not_cached(&result, "linux-x86_64"), ["plan", "emit", "verify"]);
    assert_eq!(not_cached(&result, "mps2-an505"), ["plan", "emit", "link", "verify"]);
    assert_all_cached(&place.json(&format!("deploy {RECIPE}")));
}

#[test]
fn a_retrained_model_keeps_hosted_binaries_and_firmware_crates() {
    let mut place = Place::warm();
    checkout(&mut place);
    let model = place.root.join(MODEL);
    archive::retrain(&repository().join(MODEL), &model);
    let plan = place.json(&format!("plan {RECIPE}"));
    let row = &support::unit(&plan, "pico2")["stages"][0];
    assert!(row["difference"].as_str().unwrap().starts_with("input model: "), "{row}");

    let words = format!("deploy {RECIPE} --set verify.tolerance=1000 --target linux-x86_64 --target mps2-an505");
    let result = place.json(&words);
    assert_eq!(not_cached(&result, "linux-x86_64"), ["import", "lower", "delegate", "plan", "emit", "verify"]);
    assert_eq!(not_cached(&result, "mps2-an505"), ["import", "lower", "delegate", "plan", "emit", "link", "verify"]);
    let error = |target| support::unit(&result, target)["verification"]["max_error"].as_f64().unwrap();
    assert!(error("linux-x86_64") > 1e-3, "another weight is another model: {}", error("linux-x86_64"));
    assert!((error("linux-x86_64") - error("mps2-an505")).abs() < 1e-4);
}

#[test]
fn recipes_of_a_model_share_recipe_independent_stages() {
    let place = Place::warm();
    let text = format!(
        "etbuild: 1\nname: other\nmodel: {{ pt2: {} }}\ntargets: [linux-x86_64, pico2]\n",
        repository().join(MODEL).display()
    );
    let recipe = place.file("other.yaml", text);
    let plan = place.json(&format!("plan {}", recipe.display()));
    // The recipe's name is an input of the binary and not of its crates.
    assert_eq!(not_cached(&plan, "linux-x86_64"), ["link"]);
    assert_eq!(not_cached(&plan, "pico2"), ["link"]);
}

#[test]
fn a_model_run_on_the_host_shares_the_deploys_stages() {
    let place = Place::cold();
    let outputs = place.path().join("outputs.safetensors");
    let words = format!(
        "run {MODEL} --partition portable --inputs examples/digits/test.safetensors --outputs {}",
        outputs.display()
    );
    let ran = place.run(&words).expect(0);
    assert_eq!(ran.stderr.lines().count(), 4, "{}", ran.stderr);
    let plan = place.json(&format!("plan {RECIPE} --partition portable --target linux-aarch64"));
    assert_eq!(stages(&plan, "linux-aarch64", |row| row["state"] == "cached"), ["import", "lower", "plan", "emit"]);
    assert_eq!(place.run(&words).expect(0).stderr, "");
}

#[test]
fn without_the_cache_every_stage_runs_and_gives_the_same() {
    let place = Place::warm();
    let deploy = format!("deploy {RECIPE} --target mps2-an505");
    place.run(&deploy).expect(0);
    let before = files::tree(&place.out());
    let result = place.json(&format!("{deploy} --no-cache"));
    assert_eq!(stages(&result, "mps2-an505", |row| row["cached"] == true), [""; 0]);
    assert_eq!(files::tree(&place.out()), before);
}
