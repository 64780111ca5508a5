//! `etbuild inspect` and `etbuild explain --operators`: contents, differences, required operators.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_engine::{Event, Mode, World, program_file as program_file_of};
use etbuild_system::RealSystem;
use serde_json::{Value, json};

use crate::support::{Place, repository};

/// A file that upstream's exporter wrote.
fn upstream(name: &str) -> PathBuf {
    repository().join("runtime/et-format/tests/data").join(name)
}

fn inspect(name: &str) -> Value {
    Place::cold().json(&format!("inspect {}", upstream(name).display()))
}

fn difference(before: &str, after: &str) -> Value {
    Place::cold().json(&format!("inspect {} {}", upstream(before).display(), upstream(after).display()))
}

/// The change of a subject of a difference, `[before, after]`.
fn change(difference: &Value, what: &str, name: &str) -> Value {
    let changes = difference["changes"].as_array().unwrap().iter();
    let mut found = changes.filter(|change| change["what"] == what && change["name"] == name);
    found.next().map_or(Value::Null, |change| json!([change["before"], change["after"]]))
}

#[test]
fn state_whose_first_values_are_zeros_is_state() {
    let file = Place::cold().json("inspect examples/tiny-llama/model");
    let methods = file["methods"].as_array().unwrap();
    let decode = methods.iter().find(|method| method["name"] == "decode").unwrap();
    let states = decode["state"].as_array().unwrap();
    assert!(states.iter().any(|state| state["name"].as_str().is_some_and(|name| name.ends_with("keys"))), "{states:?}");
    assert!(states.iter().all(|state| state["place"] == "state"), "{states:?}");
}

#[test]
fn state_and_calls_of_a_program_file_are_shown() {
    let file = inspect("state.pte");
    assert_eq!((&file["schema"], &file["kind"]), (&json!("etbuild.inspect/1"), &json!("program")));
    let method = &file["methods"][0];
    assert_eq!((&method["inputs"][0]["type"], &method["inputs"][1]["type"]), (&json!("float32[3]"), &json!("int")));
    assert_eq!((&method["state"][0]["name"], &method["state"][0]["tensor"]["size"]), (&json!("total"), &json!(12)));
    assert_eq!((&method["arenas"], &method["operators"]["aten::add.out"]), (&json!([80]), &json!(2)));
    assert_eq!(method["instructions"], json!({ "kernel calls": 5 }));
    assert_eq!(method["largest"].as_array().unwrap()[0]["tensor"]["size"], 12);
    let segments: Vec<_> = file["segments"].as_array().unwrap().iter().map(|segment| &segment["holds"]).collect();
    assert_eq!(segments, [&json!(["constants"]), &json!(["initial values"])]);
    let places: Vec<_> = file["constants"].as_array().unwrap().iter().map(|constant| &constant["place"]).collect();
    assert_eq!(places, ["constant", "constant", "initial"]);
}

#[test]
fn a_model_is_shown_as_its_program_file() {
    let model = repository().join("examples/digits/digits.pt2");
    let file = Place::cold().json(&format!("inspect {} --set partition=portable", model.display()));
    assert_eq!(file["kind"], "program");
    assert_eq!(file["methods"][0]["operators"]["aten::convolution.out"], 2);
}

#[test]
fn bounds_of_dynamic_shapes_and_jumps_are_shown() {
    let file = inspect("branch.pte");
    let (method, text) = (&file["methods"][0], "float32[4, 2] at most");
    assert_eq!(
        (&method["inputs"][1]["type"], &method["inputs"][1]["tensor"]["shape"]),
        (&json!(text), &json!("bounded"))
    );
    assert_eq!(method["instructions"], json!({ "jumps": 2, "kernel calls": 4, "moves": 2 }));
}

#[test]
fn data_files_and_bundled_programs_are_shown() {
    let data = inspect("external.ptd");
    let entries: Vec<_> =
        data["entries"].as_array().unwrap().iter().map(|entry| (&entry["name"], &entry["type"])).collect();
    assert_eq!(entries, [(&json!("factor"), &json!("float32[3]")), (&json!("offset"), &json!("float32[1, 3]"))]);
    assert_eq!(inspect("external.pte")["constants"][0]["place"], "external");
    let bundle = inspect("bundled.bpte");
    assert_eq!(bundle["suites"], json!([{ "method": "forward", "cases": 2 }]));
    assert_eq!(bundle["program"]["methods"][0]["name"], "forward");
}

#[test]
fn a_file_does_not_differ_from_itself_and_both_answers_are_status_0() {
    let same = difference("state.pte", "state.pte");
    assert_eq!((&same["identical"], &same["equal"], &same["changes"]), (&json!(true), &json!(true), &json!([])));
    let other = difference("add.pte", "state.pte");
    assert_eq!((&other["identical"], &other["equal"]), (&json!(false), &json!(false)));
}

#[test]
fn differences_are_shown_in_both_directions() {
    let (there, back) = (difference("add.pte", "state.pte"), difference("state.pte", "add.pte"));
    for (what, name, before, after) in [
        ("operator", "aten::add.out", json!("1"), json!("2")),
        ("operator", "aten::mul.out", Value::Null, json!("1")),
        ("input", "1", json!("float32[2, 3]"), json!("int")),
        ("arena", "1", json!("96"), json!("80")),
        ("segment", "1 initial values", Value::Null, json!("12")),
    ] {
        assert_eq!(change(&there, what, name), json!([before, after]), "{name}");
        assert_eq!(change(&back, what, name), json!([after, before]), "{name}");
    }
}

/// After a change of a single element of the largest constant of `state.pte`, nothing else differs.
#[test]
fn a_changed_constant_is_one_change() {
    let place = Place::cold();
    let mut bytes = fs::read(upstream("state.pte")).unwrap();
    let elements: Vec<u8> = [1.0_f32, 2.0, 3.0].iter().flat_map(|number| number.to_le_bytes()).collect();
    let found = bytes.windows(12).position(|window| window == elements).unwrap();
    bytes[found] ^= 1;
    let changed = place.file("changed.pte", bytes);
    let difference = place.json(&format!("inspect {} {}", upstream("state.pte").display(), changed.display()));
    let names: Vec<_> = difference["changes"].as_array().unwrap().iter().map(|change| &change["name"]).collect();
    assert_eq!(names, ["total", "digest"]);
}

#[test]
fn a_truncated_file_is_malformed() {
    let place = Place::cold();
    for name in ["state.pte", "external.ptd", "bundled.bpte"] {
        let bytes = fs::read(upstream(name)).unwrap();
        let cut = place.file(name, &bytes[..bytes.len() / 2]);
        let ran = place.run(&format!("inspect {}", cut.display())).expect(8);
        assert!(ran.stderr.contains("error[ETB0707]"), "{}", ran.stderr);
    }
}

fn archive(name: &str) -> PathBuf {
    repository().join("etbuild/etbuild-import/tests/data").join(name)
}

#[test]
fn the_kernels_of_a_model_are_explained_for_each_target() {
    let words = format!(
        "explain --operators {} --set partition=portable --target linux-x86_64 --target pico2",
        archive("images.pt2").display()
    );
    let explained = Place::cold().json(&words);
    let program = &explained["programs"][0];
    assert_eq!((&explained["ok"], &program["targets"]), (&json!(true), &json!(["linux-x86_64", "pico2"])));
    let rows = program["operators"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["operator"] == name).unwrap();
    let convolution = row("aten::convolution.out");
    assert_eq!((&convolution["calls"], &convolution["types"]), (&json!(5), &json!(["float32"])));
    assert_eq!(convolution["kernels"]["pico2"], "et_ops::convolutions::convolution::out<float32>");
    assert_eq!((&convolution["upstream"], &row("aten::group_norm.out")["upstream"]), (&json!(true), &json!(false)));
    assert_eq!(row("aten::where.self_out")["types"], json!(["float32", "bool"]));
}

/// The program file of a model, without a binary.
fn program_file(place: &Place, model: &Path) -> PathBuf {
    let system = Arc::new(RealSystem::default());
    let world = World::open(system, &place.cache(), Arc::new(|_: &Event| {}), Mode::Build, 1).unwrap();
    place.file("model.pte", &program_file_of(&Arc::new(world), model, &[]).unwrap()[..])
}

#[test]
fn the_calls_that_are_explained_are_those_of_the_program_file() {
    let place = Place::cold();
    for name in ["images.pt2", "layers.pt2", "language.pt2", "writes.pt2"] {
        let explained =
            place.json(&format!("explain --operators {} --set partition=portable", archive(name).display()));
        let mut calls = BTreeMap::new();
        for row in explained["programs"][0]["operators"].as_array().unwrap() {
            *calls.entry(row["operator"].as_str().unwrap()).or_insert(0) += row["calls"].as_u64().unwrap();
        }
        let file = program_file(&place, &archive(name));
        let described = place.json(&format!("inspect {}", file.display()));
        assert_eq!(json!(calls), described["methods"][0]["operators"], "{name}");
    }
}

#[test]
fn missing_operators_are_explained_with_their_values_beside_the_rest() {
    let place = Place::cold();
    let model = repository().join("etbuild/etbuild/tests/data/eigenvalues.pt2");
    let ran = place.run(&format!("explain --operators {} --output json", model.display())).expect(4);
    let (explained, program) = (ran.json(), &ran.json()["programs"][0]);
    assert_eq!(explained["ok"], false);
    let missing = &program["missing"][0];
    assert!(missing["operator"].as_str().unwrap().contains("eigvals"), "{missing}");
    assert!(!missing["value"].as_str().unwrap().is_empty() && !missing["reason"].as_str().unwrap().is_empty());
    assert_eq!(program["diagnostics"].as_array().unwrap().len(), program["missing"].as_array().unwrap().len());
    let text = place.run(&format!("explain --operators {}", model.display())).expect(4);
    assert!(text.stdout.contains("missing") && text.stderr.contains("error[ETB0401]"), "{}", text.stderr);
}
