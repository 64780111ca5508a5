//! Lists of units for continuous integration.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::support::{MODEL, Place, RECIPE, repository};

/// A repository with two recipes of a model, one with a matrix of two values, on two targets each.
fn project() -> Place {
    let mut place = Place::cold();
    place.root = place.path().join("project");
    fs::create_dir_all(&place.root).unwrap();
    fs::copy(repository().join(MODEL), place.root.join("model.pt2")).unwrap();
    let recipe = |name: &str, more: &str| {
        format!(
            "extends: base.yaml\netbuild: 1\nname: {name}\nmodel: {{ pt2: model.pt2 }}\ntargets: [linux-x86_64, pico2]\n{more}"
        )
    };
    place.file("project/base.yaml", "memory: { planner: greedy }\n");
    place.file("project/one.yaml", recipe("one", ""));
    place.file(
        "project/two.yaml",
        recipe("two", "matrix: { planner: [greedy, naive] }\nmemory: { planner: \"${planner}\" }\n"),
    );
    for words in [
        "init --quiet --initial-branch=main",
        "add .",
        "-c user.name=A -c user.email=a@example.org commit --quiet -m first",
    ] {
        let status = Command::new("git").args(words.split(' ')).current_dir(&place.root).status().unwrap();
        assert!(status.success(), "{words}");
    }
    place
}

const RECIPES: &str = "one.yaml two.yaml";

fn ids(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|unit| unit["id"].as_str().unwrap()).collect()
}

fn matrix(place: &Place, more: &str) -> Vec<String> {
    let value = place.run(&format!("matrix {RECIPES} --format json {more}")).expect(0).json();
    ids(&value["units"]).into_iter().map(str::to_owned).collect()
}

const ALL: [&str; 6] = [
    "one@linux-x86_64",
    "one@pico2",
    "two-greedy@linux-x86_64",
    "two-greedy@pico2",
    "two-naive@linux-x86_64",
    "two-naive@pico2",
];

#[test]
fn every_recipe_target_and_variable_is_a_unit() {
    let place = project();
    assert_eq!(matrix(&place, ""), ALL);
    assert_eq!(matrix(&place, "--only two-*@pico2 --only one@linux-x86_64"), [ALL[0], ALL[3], ALL[5]]);
    let ran = place.run(&format!("matrix {RECIPES} --only one@pico3")).expect(2);
    assert!(ran.stderr.contains("did you mean `one@pico2`?"), "{}", ran.stderr);
    let github = place.run(&format!("matrix {RECIPES} --format github --shard 3/3")).expect(0);
    assert_eq!((github.stdout.lines().count(), ids(&github.json()["include"])), (1, vec![ALL[4], ALL[5]]));
    let gitlab = place.run(&format!("matrix {RECIPES} --format gitlab --only one@pico2")).expect(0).json();
    assert_eq!(gitlab["etbuild one@pico2"]["script"][0], "etbuild deploy 'one.yaml' --only 'one@pico2'");
}

#[test]
fn a_changed_file_touches_the_units_that_read_it() {
    let place = project();
    let since = "--changed-since HEAD";
    assert_eq!(matrix(&place, since), [""; 0]);
    place.file("project/notes.txt", "nobody reads this");
    assert_eq!(matrix(&place, since), [""; 0]);
    place.file("project/two.yaml", fs::read_to_string(place.root.join("two.yaml")).unwrap() + "# changed\n");
    assert_eq!(matrix(&place, since), ALL[2..]);
    place.file("project/base.yaml", "memory: { planner: naive }\n");
    assert_eq!(matrix(&place, since), ALL);
    let ran = place.run(&format!("matrix {RECIPES} --changed-since no-such-revision")).expect(2);
    assert!(ran.stderr.contains("no-such-revision"), "{}", ran.stderr);
}

#[test]
fn only_units_with_stages_to_run_are_stale() {
    let place = Place::warm();
    let stale = |more: &str| {
        let value = place.run(&format!("matrix {RECIPE} --format json --only-stale {more}")).expect(0).json();
        ids(&value["units"]).len()
    };
    assert_eq!(stale(""), 0);
    assert_eq!(stale("--set memory.planner=naive"), 4);
}
