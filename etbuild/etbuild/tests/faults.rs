//! Faults of the machine and its users without another test; `docs/reliability.md` has the full list.

use std::fs;
use std::process::Command;

use crate::support::{ETBUILD, MODEL, Place, RECIPE, Ran, archive, files, not_cached, repository, stages, warm_out};

const ON: &str = "linux-x86_64";

/// The command in a shell, after shell commands of the scenario.
fn in_shell(place: &Place, before: &str, words: &str) -> Ran {
    let mut command = Command::new("sh");
    let (out, cache) = (place.out(), place.cache());
    let line = format!("{before}; exec '{ETBUILD}' {words} --out '{}'", out.display());
    Ran::of(command.args(["-c", &line]).current_dir(&place.root).env("ETBUILD_CACHE_DIR", cache))
}

/// F05: too few file descriptors.
#[test]
fn too_few_open_files_are_a_clear_error_and_the_cache_stays_right() {
    let place = Place::cold();
    for limit in [6, 8, 10, 12] {
        let ran = in_shell(&place, &format!("ulimit -n {limit}"), &format!("explain {RECIPE} --operators"));
        assert!(
            ran.status == 0 || ran.stderr.contains("ETB0") || ran.stderr.contains("Too many open files"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(place.json("cache verify")["ok"], true);
    place.run(&format!("explain {RECIPE} --operators")).expect(0);
}

/// F07: a failure is never on record as a success.
#[test]
fn a_stage_that_fails_leaves_no_record_and_fails_again() {
    let place = Place::cold();
    let model = place.file("broken.pt2", "PK no archive");
    for _ in 0..2 {
        let ran = place.run(&format!("build {} --target {ON}", model.display())).expect(1);
        assert!(ran.stderr.contains("ETB0302"), "{}", ran.stderr);
        assert_eq!(place.json("cache stat")["records"], 0);
    }
}

/// A machine without Rust.
#[test]
fn a_deploy_that_builds_nothing_for_want_of_rust_is_an_error() {
    let place = Place::cold();
    let mut command = place.command(["deploy", MODEL, "--target", ON]);
    let ran = Ran::of(command.env("PATH", "").env("HOME", place.path())).expect(1);
    assert!(ran.stderr.contains("error[ETB0501]") && ran.stderr.contains("https://rustup.rs"), "{}", ran.stderr);
}

/// Results where no folder can be.
#[test]
fn results_below_a_file_are_refused_before_a_stage_runs() {
    let place = Place::cold();
    let out = place.file("file", "").join("out");
    let mut command = Command::new(ETBUILD);
    command.args(["build", MODEL, "--target", ON, "--out"]).arg(out).current_dir(&place.root);
    let ran = Ran::of(command.env("ETBUILD_CACHE_DIR", place.cache())).expect(1);
    assert!(
        ran.stderr.contains("error[ETB0604]") && ran.stderr.contains("a part of the path is a file"),
        "{}",
        ran.stderr
    );
    assert_eq!(place.json("cache stat")["records"], 0);
}

/// F27: an edit that leaves size and time as they were.
#[test]
fn an_edit_of_the_same_size_and_time_is_noticed() {
    let mut place = Place::warm();
    for part in ["recipes", "examples"] {
        files::copy(&repository().join(part), &place.path().join("checkout").join(part));
    }
    place.root = place.path().join("checkout");
    let model = place.root.join(MODEL);
    let plan = || place.json(&format!("plan {RECIPE} --target {ON}"));
    assert_eq!(not_cached(&plan(), ON), [""; 0]);
    let before = fs::metadata(&model).unwrap();
    archive::retrain(&repository().join(MODEL), &model);
    fs::File::options().append(true).open(&model).unwrap().set_modified(before.modified().unwrap()).unwrap();
    assert_eq!(fs::metadata(&model).unwrap().len(), before.len());
    assert_eq!(stages(&plan(), ON, |row| row["state"] == "missing"), ["import"]);
}

/// F30, F31, F39: another time zone, language, mask, user and number of threads, and a variable that nobody declared.
#[test]
fn surroundings_reach_no_result() {
    let place = Place::warm();
    let scene = "umask 077; export TZ=Asia/Kathmandu LANG=tr_TR.UTF-8 LC_ALL=C USER=canary-user CANARY=canary-value SOURCE_DATE_EPOCH=1";
    in_shell(&place, scene, &format!("build {RECIPE} --target {ON} --no-cache -j 1")).expect(0);
    let folder = format!("digits/{ON}");
    let (built, wanted) = (files::tree(&place.out().join(&folder)), files::tree(&warm_out().join(&folder)));
    for name in ["digits", "digits.pte", "size.json"] {
        assert!(
            built.get(name.as_ref() as &std::path::Path) == wanted.get(name.as_ref() as &std::path::Path),
            "{name} has other bytes"
        );
    }
    let (home, root) = (std::env::var("HOME").unwrap(), repository().display().to_string());
    for (name, bytes) in &built {
        for canary in ["canary-user", "canary-value", &home, &root, place.path().to_str().unwrap()] {
            let found = bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
            assert!(!found || canary.len() < 6, "{} holds {canary}", name.display());
        }
    }
}

/// F36: another version's part of the cache is left alone.
#[test]
fn files_of_another_cache_version_are_kept() {
    let place = Place::warm();
    let other = place.file("cache/v2/cas/ab/cd", "of another version");
    place.run(&format!("build {RECIPE} --target {ON}")).expect(0);
    place.run("cache gc --max-size 1B --no-roots").expect(0);
    assert_eq!(fs::read_to_string(other).unwrap(), "of another version");
}

/// F37: the cache behind a link.
#[test]
fn a_cache_behind_a_link_works() {
    let place = Place::warm();
    let link = place.path().join("link");
    std::os::unix::fs::symlink(place.cache(), &link).unwrap();
    let mut command = place.command(["plan", RECIPE, "--target", ON, "--output", "json"]);
    let plan = Ran::of(command.env("ETBUILD_CACHE_DIR", link)).expect(0).json();
    assert_eq!(not_cached(&plan, ON), [""; 0]);
}

/// F38: names that quoting or splitting would break.
#[test]
fn any_name_of_a_folder_works() {
    let mut place = Place::cold();
    let folder = place.path().join("a b/\u{fc}\n'\"$(x)");
    files::copy(&repository().join("examples/digits"), &folder.join("examples/digits"));
    files::copy(&repository().join("recipes"), &folder.join("recipes"));
    place.root = folder;
    place.run(&format!("explain {RECIPE} --operators")).expect(0);
    place.run(&format!("inspect {MODEL}")).expect(0);
    let matrix = place.run(&format!("matrix {RECIPE} --format json")).expect(0).json();
    assert_eq!(matrix["units"].as_array().unwrap().len(), 4);
}
