//! Every recipe and target file among the examples of `etbuild explain` produces its code.

use std::fs;

use etbuild_diagnostic::{Code, CodeInfo};

use crate::support::{MODEL, Place, repository};

/// A place with the example as recipe `r.yaml`, or as the target of a valid recipe.
fn place(language: &str, text: &str) -> Place {
    let mut place = Place::cold();
    fs::copy(repository().join(MODEL), place.path().join("digits.pt2")).unwrap();
    place.root = place.path().to_owned();
    if language == "yaml target" {
        place.file("targets/board.yaml", text);
        place.file("r.yaml", "etbuild: 1\nname: digits\nmodel: { pt2: digits.pt2 }\ntargets: [board]\n");
    } else {
        place.file("r.yaml", text);
    }
    place
}

fn check(info: &CodeInfo) {
    let example = info.code.explanation().example;
    let ran = place(example.language, example.text).run("check r.yaml").expect(info.failure.exit_code().into());
    assert!(ran.stderr.contains(&format!("error[{}]", info.id)), "{}: {}", info.id, ran.stderr);
}

#[test]
fn examples_of_recipes_and_targets_produce_their_codes() {
    let examples = Code::TABLE.iter().filter(|info| info.code.explanation().example.language.starts_with("yaml"));
    let checked: Vec<&str> = examples.inspect(|info| check(info)).map(|info| info.id).collect();
    assert!(checked.len() >= 20, "{checked:?}");
}
