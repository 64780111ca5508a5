//! The lock file: contents, and the errors of `--locked`.

use std::fs;
use std::process::Command;

use crate::support::{self, Place, archive, files, repository};

/// A git repository with the recipe and a warm cache.
fn checkout() -> Place {
    let mut place = Place::warm();
    for part in ["recipes", "examples"] {
        files::copy(&repository().join(part), &place.path().join("checkout").join(part));
    }
    place.root = place.path().join("checkout");
    for words in ["init --quiet", "add .", "-c user.name=A -c user.email=a@example.org commit --quiet -m first"] {
        assert!(Command::new("git").args(words.split(' ')).current_dir(&place.root).status().unwrap().success());
    }
    place
}

const ON: &str = "recipes/digits.yaml --target linux-x86_64";

fn locked(place: &Place) -> toml::Table {
    fs::read_to_string(place.root.join("etbuild.lock")).unwrap().parse().unwrap()
}

#[test]
fn a_lock_names_sources_tools_targets_and_results_and_no_machine() {
    let place = checkout();
    place.run(&format!("lock {ON}")).expect(0);
    let lock = locked(&place);
    let names = |kind: &str, key: &str| -> Vec<String> {
        lock[kind].as_array().unwrap().iter().map(|entry| entry[key].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        names("source", "path"),
        ["examples/digits/digits.pt2", "examples/digits/test.safetensors", "recipes/digits.yaml"]
    );
    assert_eq!(names("source", "revision").iter().map(String::len).collect::<Vec<_>>(), [40, 40, 40]);
    assert_eq!(names("target", "name"), ["linux-x86_64"]);
    assert_eq!(names("unit", "id"), ["digits@linux-x86_64"]);
    assert!(names("tool", "version").iter().any(|version| version.starts_with("rustc ")), "{lock}");
    let text = fs::read_to_string(place.root.join("etbuild.lock")).unwrap();
    assert!(!text.contains(place.path().to_str().unwrap()), "{text}");
    place.run(&format!("lock {ON}")).expect(0);
    assert_eq!(fs::read_to_string(place.root.join("etbuild.lock")).unwrap(), text, "a second lock writes the same");
    place.run(&format!("deploy {ON} --locked")).expect(0);
}

#[test]
fn a_changed_source_is_refused_before_anything_runs() {
    let place = checkout();
    let ran = place.run(&format!("build {ON} --locked")).expect(5);
    assert!(ran.stderr.contains("`--locked` requires `etbuild.lock`"), "{}", ran.stderr);
    place.run(&format!("lock {ON}")).expect(0);
    let model = place.root.join(support::MODEL);
    archive::retrain(&repository().join(support::MODEL), &model);
    let ran = place.run(&format!("build {ON} --locked")).expect(5);
    assert!(ran.stderr.contains("source `examples/digits/digits.pt2` differs from the lock file"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("import"), "nothing ran: {}", ran.stderr);
    for command in ["verify", "report", "deploy"] {
        place.run(&format!("{command} {ON} --locked")).expect(5);
    }
    for command in ["check", "plan", "compile"] {
        let ran = place.run(&format!("{command} recipes/digits.yaml --locked")).expect(2);
        assert!(ran.stderr.contains("compares nothing with `etbuild.lock`"), "{}", ran.stderr);
    }
    place.run(&format!("lock {ON}")).expect(5);
    place.run(&format!("lock {ON} --update")).expect(0);
    place.run(&format!("build {ON} --locked")).expect(0);
    let revisions =
        locked(&place)["source"].as_array().unwrap().iter().filter(|entry| entry.get("revision").is_some()).count();
    assert_eq!(revisions, 2, "a changed file is in no commit");
}

#[test]
fn a_unit_that_is_not_locked_and_a_changed_result_are_refused_and_other_units_stay() {
    let place = checkout();
    place.run(&format!("lock {ON}")).expect(0);
    place.run("build recipes/digits.yaml --target linux-aarch64 --locked").expect(5);
    place.run("lock recipes/digits.yaml --target linux-aarch64").expect(0);
    place.run("build recipes/digits.yaml --target linux-aarch64 --locked").expect(0);
    place.run(&format!("build {ON} --locked")).expect(0);
    files::change(&place.root.join("etbuild.lock"), |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let at = text.find("\"digits.pte\" = \"").unwrap() + 16;
        bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
    });
    let ran = place.run("build recipes/digits.yaml --target linux-aarch64 --target linux-x86_64 --locked").expect(5);
    assert!(ran.stderr.contains("/digits.pte` differs from the lock file"), "{}", ran.stderr);
    place.file("checkout/etbuild.lock", "version = 2");
    place.run(&format!("build {ON} --locked")).expect(3);
}
