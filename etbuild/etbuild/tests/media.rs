//! Pictures as inputs of recipes, with preprocessing and names of classes.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{self, MODEL, Place, Ran, repository};

/// A recipe of the digits for pictures of 8 x 8 pixels; the levels of gray are 0, 15, ..., 240.
fn recipe(more: &str) -> String {
    let (model, data, reference) = (repository().join(MODEL), data("digit.png"), data("digit.safetensors"));
    format!(
        "etbuild: 1\nname: numerals\nmodel: {{ pt2: {} }}\ntargets: [linux-x86_64]\nlabels: names.txt\n\
         inputs: {{ x: {{ image: {{ color: gray, scale: 1/240 }} }} }}\n\
         verify: {{ inputs: {data}, reference: {reference}, tolerance: 1e-4 }}\n{more}",
        model.display()
    )
}

fn data(name: &str) -> String {
    repository().join("etbuild/etbuild/tests/data").join(name).display().to_string()
}

const NAMES: &str = "zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

fn place(recipe: &str) -> Place {
    let mut place = Place::cold_with_compiled_crates();
    place.file("r.yaml", recipe);
    place.file("names.txt", NAMES);
    place.root = place.path().to_owned();
    place
}

fn app(binary: &Path, words: &str) -> Ran {
    Ran::of(Command::new(binary).args(words.split_whitespace()))
}

/// The first name of lines of classes, and the number of lines.
fn best(ran: &Ran) -> (&str, usize) {
    (ran.stdout.split_whitespace().next().unwrap_or_default(), ran.stdout.lines().count())
}

#[test]
fn a_picture_is_verified_and_named_by_command_and_binary() {
    let place = place(&recipe(""));
    let result = place.json("deploy r.yaml");
    let verification = &support::unit(&result, "linux-x86_64")["verification"];
    assert_eq!((&verification["state"], &verification["cases"]), (&"done".into(), &1.into()), "{verification}");
    let (binary, picture) = (place.out().join("numerals/linux-x86_64/numerals"), data("digit.png"));
    let said = app(&binary, &format!("--inputs {picture}")).expect(0);
    assert_eq!(best(&said), ("seven", 5), "{}", said.stdout);
    for file in ["r.yaml".to_owned(), format!("{}.pte", binary.display())] {
        let ran = place.run(&format!("run {file} --inputs {picture}")).expect(0);
        assert_eq!(ran.stdout, said.stdout, "{file}");
        assert_eq!(best(&place.run(&format!("run {file} --inputs {picture} --top-k 2")).expect(0)), ("seven", 2));
    }
    let outputs = place.path().join("y.npy");
    let silent = app(&binary, &format!("--inputs {picture} --outputs {}", outputs.display())).expect(0);
    assert_eq!((silent.stdout.as_str(), outputs.exists()), ("", true));
    assert_eq!(best(&app(&binary, &format!("--inputs {picture} --top-k 3")).expect(0)), ("seven", 3));

    let broken = fs::read(&picture).unwrap();
    let broken = place.file("broken.png", &broken[..broken.len() - 20]);
    let refused = app(&binary, &format!("--inputs {}", broken.display())).expect(8);
    assert!(refused.stderr.contains("a PNG picture: "), "{}", refused.stderr);
    let sound = place.file("sound.wav", b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0");
    let refused = app(&binary, &format!("--inputs {}", sound.display())).expect(8);
    assert!(refused.stderr.contains("no preprocessing `audio` for input x"), "{}", refused.stderr);
}

/// Code, place and hint of the first mistake of a command.
#[track_caller]
fn mistake(place: &Place, words: &str, status: i32) -> (String, String, String) {
    let value = place.run(&format!("{words} --output json")).expect(status).json();
    let found = &value["diagnostics"][0];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (file, start) = (text(&found["span"]["file"]), &found["span"]["start"]);
    (text(&found["code"]), format!("{file}:{}:{}", start["line"], start["column"]), text(&found["help"]))
}

#[test]
fn what_does_not_fit_is_refused_with_a_place_and_a_hint() {
    let place = place(&recipe(""));
    let picture = data("digit.png");
    let at = format!("{picture}:1:1");
    let run = |more: &str| mistake(&place, &format!("run r.yaml --inputs {picture} {more}"), 3);
    let model = repository().join(MODEL).display().to_string();
    let (code, found, help) = mistake(&place, &format!("run {model} --inputs {picture} --top-k 1"), 3);
    assert_eq!((code.as_str(), &found), ("ETB0706", &at));
    assert!(help.contains("inputs: { x: { image: {"), "{help}");
    let (code, found, help) = run("--set inputs.x.image.color=rgb");
    assert_eq!((code.as_str(), &found), ("ETB0706", &at));
    assert!(help.contains("`color`"), "{help}");
    let (code, _, help) = run("--set inputs.y.image.crop=8");
    assert_eq!((code.as_str(), help.as_str()), ("ETB0706", "did you mean `x`?"));
    let broken = fs::read(&picture).unwrap();
    place.file("broken.png", &broken[..broken.len() - 20]);
    let (code, found, help) = mistake(&place, "run r.yaml --inputs broken.png", 3);
    assert_eq!((code.as_str(), found.as_str()), ("ETB0706", "broken.png:1:1"));
    assert_eq!(help, "open the file in another program, and save it again");

    place.file("names.txt", "a\nb\n");
    let (code, found, _) = mistake(&place, "check r.yaml", 3);
    assert_eq!((code.as_str(), found.as_str()), ("ETB0212", "r.yaml:5:9"));
    let (code, found, _) = mistake(&place, "check r.yaml --target mps2-an505", 4);
    assert_eq!((code.as_str(), found.as_str()), ("ETB0207", "r.yaml:7:19"));
    let (code, _, help) = mistake(&place, "check r.yaml --set labels=absent.txt", 3);
    assert_eq!(code, "ETB0201", "{help}");
}

#[test]
fn the_classes_of_a_picture_are_values_in_json() {
    let place = place(&recipe(""));
    let (picture, outputs) = (data("digit.png"), place.path().join("y.npy"));
    let result = place.json(&format!("run r.yaml --inputs {picture} --top-k 2"));
    assert_eq!((&result["schema"], &result["ok"]), (&"etbuild.run/1".into(), &true.into()));
    let best = &result["classes"][0][0];
    assert_eq!((&best["name"], &best["index"]), (&"seven".into(), &7.into()), "{result}");
    assert!(best["probability"].as_f64().unwrap() > result["classes"][0][1]["probability"].as_f64().unwrap());
    let result = place.json(&format!("run r.yaml --inputs {picture} --outputs {}", outputs.display()));
    assert_eq!(result["outputs"], outputs.to_str().unwrap());
    assert!(result["ok"] == true && result["classes"].is_null(), "{result}");
}

#[test]
fn labels_beside_the_model_are_used_if_their_number_fits() {
    let place = place("etbuild: 1\nname: numerals\nmodel: { pt2: digits.pt2 }\ntargets: [linux-x86_64]\n");
    fs::copy(repository().join(MODEL), place.path().join("digits.pt2")).unwrap();
    let run = "run digits.pt2 --inputs x.npy";
    let array = et_module::Array::zeros(et_core::ScalarType::Float, &[1, 1, 8, 8]);
    let mut bytes = Vec::new();
    et_module::npy::write(&array, &mut bytes).unwrap();
    place.file("x.npy", bytes);
    let refused = place.run(run).expect(2);
    assert!(refused.stderr.contains("--top-k 5"), "{}", refused.stderr);
    place.file("labels.txt", NAMES);
    let named = place.run(run).expect(0);
    assert!(NAMES.lines().any(|name| name == best(&named).0), "{}", named.stdout);
    place.file("labels.txt", "only one\n");
    place.run(run).expect(2);
    assert!(best(&place.run(&format!("{run} --top-k 1")).expect(0)).0.parse::<u32>().is_ok());
}
