//! Equal inputs give equal bytes on any machine and in any folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{ETBUILD, Place, RECIPE, Ran, files, not_cached, repository, warm_cache, warm_out};

const TARGETS: [&str; 4] = ["linux-x86_64", "linux-aarch64", "mps2-an505", "pico2"];

/// A text that must not occur in results, because the text identifies this machine, its user or its folders.
const CANARY: &str = "canary-of-this-machine";

/// The recipe and its data in a deeper folder than the repository.
fn checkout(place: &Place) -> PathBuf {
    let folder = place.path().join(CANARY).join("a/much deeper/folder");
    for part in ["recipes", "examples"] {
        files::copy(&repository().join(part), &folder.join(part));
    }
    folder
}

/// The command in an environment that differs in every irrelevant property.
fn elsewhere(place: &Place, folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "umask 077; exec \"$@\"", "sh", ETBUILD]).args(words).args(["-j", "1"]);
    place.surround(&mut command);
    for (name, value) in
        [("TZ", "Pacific/Auckland"), ("LANG", "tr_TR.UTF-8"), ("LC_ALL", "C"), ("USER", CANARY), (CANARY, CANARY)]
    {
        command.env(name, value);
    }
    for name in ["SOURCE_DATE_EPOCH", "RUSTFLAGS", "CARGO_TARGET_DIR", "CARGO_INCREMENTAL"] {
        command.env(name, "1");
    }
    command.current_dir(folder);
    command
}

#[test]
fn another_checkout_with_another_cache_gives_the_same_bytes_and_keys() {
    let place = Place::cold();
    let folder = checkout(&place);
    let first = files::tree(&{
        warm_cache();
        warm_out()
    });
    Ran::of(&mut elsewhere(&place, &folder, &["deploy", RECIPE])).expect(0);
    let second = files::tree(&place.out());
    assert_eq!(first.keys().collect::<Vec<_>>(), second.keys().collect::<Vec<_>>());
    for (name, bytes) in &first {
        assert!(*bytes == second[name], "{} differs", name.display());
    }
    no_trace_of(&place, &second);
}

/// Neither of the test's folders nor of the toolchain's.
fn no_trace_of(place: &Place, results: &std::collections::BTreeMap<PathBuf, Vec<u8>>) {
    let home = std::env::var("HOME").unwrap() + "/";
    let mut traces = vec![CANARY.to_owned(), place.path().display().to_string(), repository().display().to_string()];
    traces
        .extend([format!("{home}.rustup"), format!("{home}.cargo"), home].into_iter().filter(|trace| trace.len() > 2));
    for (name, bytes) in results {
        for trace in &traces {
            let found = bytes.windows(trace.len()).any(|window| window == trace.as_bytes());
            assert!(!found, "{} names {trace}", name.display());
        }
    }
}

#[test]
fn another_checkout_with_the_same_cache_runs_no_stage() {
    let place = Place::warm();
    let folder = checkout(&place);
    let result = Ran::of(&mut elsewhere(&place, &folder, &["deploy", RECIPE, "--output", "json"])).expect(0).json();
    for target in TARGETS {
        assert_eq!(not_cached(&result, target), [""; 0], "{target}");
    }
    assert_eq!(files::tree(&place.out()), files::tree(&warm_out()));
}

#[test]
fn a_rebuild_in_an_empty_cache_is_compared() {
    let place = Place::warm();
    let ran = place.run(&format!("verify {RECIPE} --rebuild --target pico2")).expect(0);
    assert!(ran.stderr.contains("the rebuild is identical: same bytes and same keys"), "{}", ran.stderr);
}
