//! Invalid recipes: each is refused with a status, a stable code, a place and a hint, in every output format, and
//! nothing is written.

use std::fs;

use serde_json::Value;

use crate::support::{MODEL, Place, files, repository};

/// A valid recipe. Line 4 is its targets.
const GOOD: &str = "etbuild: 1\nname: digits\nmodel: { pt2: digits.pt2 }\ntargets: [pico2]\n";

/// The expected mistake: exit status, code, `line:column` in `r.yaml`, and words of the hint.
type Expected<'a> = (i32, &'a str, &'a str, &'a str);

/// A folder with a model and this recipe, where the command runs.
fn place(recipe: &str) -> Place {
    let mut place = Place::cold();
    fs::copy(repository().join(MODEL), place.path().join("digits.pt2")).unwrap();
    place.file("r.yaml", recipe);
    place.root = place.path().to_owned();
    place
}

/// Deploys `r.yaml` and demands this mistake in every form of output.
#[track_caller]
fn refused(place: &Place, options: &str, (status, code, at, hint): Expected<'_>) {
    let words = format!("deploy r.yaml {options}");
    let json = place.run(&format!("{words} --output json")).expect(status).json();
    let found = &json["diagnostics"][0];
    let start = &found["span"]["start"];
    assert_eq!((&json["ok"], &found["code"]), (&false.into(), &code.into()), "{json}");
    assert_eq!(format!("{}:{}", start["line"], start["column"]), at, "{json}");
    assert!(found["help"].as_str().unwrap_or_default().contains(hint), "{json}");
    assert!(!place.out().exists());

    let human = place.run(&words).expect(status).stderr;
    let file = found["span"]["file"].as_str().unwrap();
    assert!(human.contains(&format!("error[{code}]")) && human.contains(&format!("{file}:{at}")), "{human}");
    let github = place.run(&format!("{words} --output github")).expect(status).stdout;
    let (line, column) = at.split_once(':').unwrap();
    let command = github.lines().find(|line| line.starts_with("::error ")).unwrap();
    assert!(command.contains(&format!("line={line},")) && command.contains(&format!("col={column},")), "{command}");
    assert!(command.contains(&format!("title={code}::")), "{command}");
    is_sarif(&place.run(&format!("{words} --output sarif")).expect(status).json(), code);
}

#[track_caller]
fn is_sarif(log: &Value, code: &str) {
    assert_eq!(log["version"], "2.1.0");
    let (rules, result) = (&log["runs"][0]["tool"]["driver"]["rules"], &log["runs"][0]["results"][0]);
    assert_eq!((&result["ruleId"], &result["level"]), (&code.into(), &"error".into()));
    assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], code);
    assert!(result["locations"][0]["physicalLocation"]["region"]["startLine"].as_u64().unwrap() > 0);
}

/// A mistake that is found before the first stage: the store stays empty.
#[track_caller]
fn refused_at_once(recipe: &str, expected: Expected<'_>) {
    let place = place(recipe);
    refused(&place, "", expected);
    assert!(files::paths(&place.cache().join("v1/cas")).is_empty());
    place.run("check r.yaml").expect(expected.0);
}

#[test]
fn an_unknown_key() {
    refused_at_once(&format!("{GOOD}quantise: {{}}\n"), (3, "ETB0107", "5:1", "did you mean `quantize`?"));
}

#[test]
fn a_wrong_type() {
    let recipe = GOOD.replace("[pico2]", "pico2");
    refused_at_once(&recipe, (3, "ETB0109", "4:10", "write `[a, b]`"));
}

#[test]
fn a_missing_file() {
    refused_at_once(&GOOD.replace("digits.pt2", "digit.pt2"), (3, "ETB0201", "3:15", "did you mean `digits.pt2`?"));
}

#[test]
fn a_cycle_of_extends() {
    refused_at_once(&format!("{GOOD}extends: r.yaml\n"), (3, "ETB0111", "5:10", "remove one of the `extends:`"));
}

#[test]
fn a_yaml_bomb() {
    let level = |level: u32| format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 10].join(", "));
    let bomb: String = (1..10).map(level).collect();
    let place = place(&format!("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n{bomb}"));
    let json = place.run("deploy r.yaml --output json").expect(3).json();
    assert_eq!(
        (&json["diagnostics"][0]["code"], &json["diagnostics"][0]["span"]["start"]["line"]),
        (&"ETB0103".into(), &4.into())
    );
}

#[test]
fn two_hundred_thousand_brackets() {
    refused_at_once(&"[".repeat(200_000), (3, "ETB0104", "1:65", "fewer levels"));
    refused_at_once(&"{a: ".repeat(200_000), (3, "ETB0104", "1:257", "fewer levels"));
}

#[test]
fn an_unknown_target() {
    refused_at_once(&GOOD.replace("pico2", "pico3"), (3, "ETB0203", "4:11", "did you mean `pico`?"));
}

#[test]
fn an_unknown_backend() {
    refused_at_once(&format!("{GOOD}partition: [xnnpack]\n"), (3, "ETB0204", "5:13", "write `partition: [cpu]`"));
}

#[test]
fn a_language_model_on_a_board() {
    let model = repository().join("examples/tiny-llama/model");
    let recipe = GOOD.replace("pt2: digits.pt2", &format!("checkpoint: {}", model.display()));
    refused_at_once(&recipe, (4, "ETB0207", "4:11", "choose a hosted target"));
}

#[test]
fn an_option_that_this_version_cannot_honour() {
    refused_at_once(&format!("{GOOD}export: {{ context: 64 }}\n"), (4, "ETB0207", "5:20", ""));
}

#[test]
fn a_static_scheme_without_data() {
    refused_at_once(&format!("{GOOD}quantize: {{ scheme: int8 }}\n"), (3, "ETB0209", "5:21", "calibrate"));
}

#[test]
fn a_corrupt_model() {
    let place = place(GOOD);
    files::change(&place.path().join("digits.pt2"), |bytes| bytes.truncate(bytes.len() / 2));
    refused(&place, "", (1, "ETB0302", "1:1", "torch.export.save"));
}

#[test]
fn an_operator_without_a_kernel() {
    let place = place(GOOD);
    fs::copy(repository().join("etbuild/etbuild/tests/data/eigenvalues.pt2"), place.path().join("digits.pt2")).unwrap();
    refused(
        &place,
        "",
        (4, "ETB0401", "3:15", "run_decompositions({torch.ops.aten.linalg_eigvals.default: function})"),
    );
    let said = place.run("deploy r.yaml --target pico2 --target linux-x86_64").expect(4).stderr;
    assert!(said.contains("`aten.linalg_eigvals.default`(float32)"), "{said}");
    assert_eq!(said.matches("error[").count(), 1, "once for all targets:\n{said}");
}

/// A board like `mps2-an505` with this much RAM, beside the recipe.
fn small_board(place: &Place, ram: &str) {
    let board = fs::read_to_string(repository().join("targets/mps2-an505.yaml")).unwrap();
    let board = board.replace("name: mps2-an505", "name: small").replace("stack: 16 KiB", "stack: 2 KiB");
    place.file("targets/small.yaml", board.replace("0x38000000, size: 4 MiB", &format!("0x38000000, size: {ram}")));
}

#[test]
fn a_memory_bank_that_is_too_small() {
    let place = place(&GOOD.replace("pico2", "small"));
    small_board(&place, "8 KiB");
    refused(&place, "", (4, "ETB0404", "4:11", "more memory"));
    let said = place.run("deploy r.yaml").expect(4).stderr;
    assert!(said.contains("needs 8192 bytes in memory bank `sram`, which has 6144"), "{said}");
    assert!(said.contains("`conv2d` takes 4096 bytes"), "{said}");
}

#[test]
fn a_budget_that_is_exceeded() {
    let mut place = Place::warm();
    let model = repository().join(MODEL);
    let recipe = GOOD.replace("digits.pt2", model.to_str().unwrap());
    place.file("r.yaml", format!("{recipe}budget: {{ file: 1 MiB, flash: 10 KiB }}\n"));
    place.root = place.path().to_owned();
    refused(&place, "", (4, "ETB0405", "5:31", "raise the budget"));
}

#[test]
fn a_mistake_on_the_command_line() {
    let place = place(GOOD);
    let ran = place.run("deploy r.yaml --set memory.planner=greedi").expect(3);
    assert!(
        ran.stderr.contains("command line:1:16") && ran.stderr.contains("did you mean `greedy`?"),
        "{}",
        ran.stderr
    );
    let ran = place.run("deploy r.yaml --target pico3").expect(3);
    assert!(ran.stderr.contains("error[ETB0203]"), "{}", ran.stderr);
}

#[test]
fn every_mistake_of_every_recipe_is_reported_at_once() {
    let place = place(&format!("{GOOD}quantise: {{}}\nmemory: {{ planner: 3 }}\n"));
    place.file("other.yaml", GOOD.replace("pico2", "pico3"));
    let json = place.run("check r.yaml other.yaml missing.yaml --output json").expect(3).json();
    let found = json["diagnostics"].as_array().unwrap().iter();
    let codes: Vec<&str> = found.map(|diagnostic| diagnostic["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["ETB0107", "ETB0109", "ETB0203", "ETB0201"]);
}
