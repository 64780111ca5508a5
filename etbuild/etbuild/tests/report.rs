//! `etbuild report`: the page is complete, self-contained and escapes names of the model.

use serde_json::Value;

use crate::support::{MODEL, Place, RECIPE, repository};

const RECIPE_TEXT: &str = "etbuild: 1\nname: r\ntargets: [linux-x86_64]\n";

/// A recipe for the digits model with more lines.
fn recipe(place: &Place, more: &str) -> String {
    let model = repository().join(MODEL);
    place.file("r.yaml", format!("{RECIPE_TEXT}model: {{ pt2: {} }}\n{more}", model.display())).display().to_string()
}

fn page(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.out().join(name).join("linux-x86_64/report.html")).unwrap()
}

/// Elements that are open at the end, or closed without being open.
fn unbalanced(html: &str) -> Vec<String> {
    const DRAWN: [&str; 3] = ["rect", "path", "circle"];
    const VOID: [&str; 6] = ["meta", "rect", "line", "path", "circle", "!DOCTYPE"];
    let (mut open, mut wrong) = (Vec::<String>::new(), Vec::new());
    for tag in html.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap();
        let name: String =
            tag.trim_start_matches('/').chars().take_while(|c| !c.is_whitespace() && *c != '/').collect();
        match tag.strip_prefix('/') {
            Some(_) if open.last() == Some(&name) => drop(open.pop()),
            Some(_) => wrong.push(format!("</{name}> in {open:?}")),
            None if VOID.contains(&name.as_str()) && (tag.ends_with('/') || !DRAWN.contains(&name.as_str())) => {}
            None => open.push(name),
        }
    }
    wrong.into_iter().chain(open).collect()
}

#[test]
fn a_page_is_written_for_every_target_and_its_path_printed() {
    let place = Place::warm();
    let printed = place.run(&format!("report {RECIPE} --target linux-x86_64 --target mps2-an505")).expect(0).stdout;
    let [linux, board, index] = printed.lines().collect::<Vec<_>>().try_into().unwrap();
    for line in [linux, board, index] {
        let html = std::fs::read_to_string(line).unwrap();
        assert!(html.starts_with("<!DOCTYPE html>") && html.len() < 3_000_000, "{line}");
        assert_eq!(unbalanced(&html), Vec::<String>::new(), "{line}");
        for section in ["size", "changes", "stages", "partition", "graph", "memory", "accuracy", "latency"] {
            assert_eq!(html.contains(&format!("<section id=\"{section}\"")), line != index, "{line}: {section}");
        }
    }
    let html = std::fs::read_to_string(index).unwrap();
    for target in ["linux-x86_64", "mps2-an505"] {
        assert!(html.contains(&format!("<a href=\"digits/{target}/report.html\">digits</a>")), "{html}");
    }
}

#[test]
fn a_page_is_self_contained() {
    let place = Place::warm();
    place.run(&format!("report {RECIPE} --target linux-x86_64")).expect(0);
    let html = page(&place, "digits");
    for sign in ["://", "src=", "url(", "@import", "<script", "<link", "<iframe", "<img"] {
        assert!(!html.contains(sign), "{sign}");
    }
    assert!(html.contains("default-src 'none'"));
    assert!(html.split("href=\"").skip(1).all(|reference| reference.starts_with('#')));
}

#[test]
fn data_and_page_say_the_same() {
    let place = Place::warm();
    let json = place.json(&format!("report {RECIPE} --partition portable --target linux-x86_64"));
    let unit = &json["units"][0];
    assert_eq!((&json["schema"], &json["ok"]), (&Value::from("etbuild.report/1"), &Value::from(true)));
    let parts = unit["sizes"]["parts"].as_array().unwrap();
    let size = |kinds: &[&str]| -> u64 {
        let of_kind = parts.iter().filter(|part| kinds.contains(&part["kind"].as_str().unwrap()));
        of_kind.filter(|part| part["within"].is_null()).map(|part| part["size"].as_u64().unwrap()).sum()
    };
    let file = |name: &str| {
        let files = unit["deploy"]["files"].as_array().unwrap().iter();
        let found = files.into_iter().find(|file| file["path"].as_str().unwrap().ends_with(name)).unwrap();
        found["size"].as_u64().unwrap()
    };
    assert_eq!(size(&["constant", "blob", "program"]), file("digits.pte"));
    assert_eq!(size(&["code", "data"]), file("linux-x86_64/digits"));
    for name in ["classify.weight", "et_ops::convolutions::convolution"] {
        assert!(parts.iter().any(|part| part["name"] == name), "{name} in {parts:?}");
    }
    let arena = &unit["anatomy"]["memory"][0]["arenas"][0];
    let peak = arena["peak"].as_u64().unwrap();
    assert!(peak > 0 && peak <= arena["size"].as_u64().unwrap(), "{arena}");
    let html = page(&place, "digits");
    for value in unit["anatomy"]["nodes"].as_array().unwrap() {
        assert!(html.contains(value["value"].as_str().unwrap()), "{value}");
    }
}

#[test]
fn the_next_deploy_is_compared_with_this_one() {
    let place = Place::cold_with_compiled_crates();
    let quantized = format!(
        "quantize: {{ scheme: int8, calibrate: {} }}\n",
        repository().join("examples/digits/calibration.safetensors").display()
    );
    let report =
        |more: &str| place.json(&format!("report {} --partition portable", recipe(&place, more)))["units"][0].clone();
    assert_eq!(report("")["previous"], Value::Null);
    let second = report(&quantized);
    let change = |name: &str| {
        let changes = second["changes"].as_array().unwrap().iter();
        changes
            .into_iter()
            .find(|change| change["name"] == name)
            .unwrap_or_else(|| panic!("{name} in {second}"))
            .clone()
    };
    let (float, integers) = (change("classify.weight"), change("classify.weight.integers"));
    assert_eq!(float["before"].as_u64().unwrap(), 4 * integers["now"].as_u64().unwrap());
    assert_eq!((&float["now"], &integers["before"]), (&Value::Null, &Value::Null));
    // Nothing is rebuilt, and the previous deploy is still the first.
    let third = report(&quantized);
    assert_eq!((&third["changes"], &third["deploy"]["stages"][0]["cached"]), (&second["changes"], &Value::from(true)));
    assert!(page(&place, "r").contains("Parts that differ"));
}

#[test]
fn losses_by_layer_are_in_the_page() {
    let place = Place::cold_with_compiled_crates();
    let data = |name: &str| repository().join("examples/digits").join(name).display().to_string();
    let more = format!(
        "quantize: {{ scheme: int8, calibrate: {}, accuracy: {{ data: {} }} }}\n",
        data("calibration.safetensors"),
        data("test.safetensors")
    );
    let json = place.json(&format!("report {}", recipe(&place, &more)));
    let losses = &json["units"][0]["accuracy"];
    let layers = losses["layers"].as_array().unwrap();
    assert!(layers.is_sorted_by_key(|layer| layer["sqnr"].as_f64().unwrap()), "{losses}");
    assert_eq!((&losses["answers"]["cases"], &losses["answers"]["before"]), (&360.into(), &357.into()));
    let html = page(&place, "r");
    assert!(html.contains(&format!("{:.1} dB", layers[0]["sqnr"].as_f64().unwrap())) && html.contains("99.17 %"));
}

#[test]
fn a_recipe_that_fails_still_gets_a_page_and_its_status() {
    let place = Place::warm();
    place.run(&format!("report {RECIPE} --target linux-x86_64 --set budget.file=1KiB")).expect(4);
    let html = page(&place, "digits");
    assert!(html.contains("ETB0405") && html.contains("Nothing was built"), "{html}");
    let missing = place.run("report no-such-recipe.yaml --output json").expect(3).json();
    assert_eq!(missing["ok"], false);
}

#[test]
fn layers_have_times_and_names_inside_engines_too() {
    let place = Place::cold_with_compiled_crates();
    for (partition, operator) in [("portable", "aten::convolution"), ("cpu", "Conv2d")] {
        let path = recipe(&place, &format!("partition: [{partition}]\n"));
        let json = place.json(&format!("report {path} --latency"));
        let unit = &json["units"][0];
        let layers = unit["latency"]["layers"].as_array().unwrap();
        assert_eq!(unit["latency"]["problem"], Value::Null);
        let computes = |value: &str| layers.iter().find(|layer| layer["value"] == value);
        let nodes = unit["anatomy"]["nodes"].as_array().unwrap();
        let convolution = nodes.iter().find(|node| node["operator"] == "aten.convolution.default").unwrap();
        let layer =
            computes(convolution["value"].as_str().unwrap()).unwrap_or_else(|| panic!("{convolution} in {unit}"));
        assert!(layer["operator"].as_str().unwrap().starts_with(operator), "{layer}");
        assert!(layers.iter().all(|layer| layer["milliseconds"].as_f64().unwrap() >= 0.0 && layer["value"] != ""));
        let html = page(&place, "r");
        let parts = unit["sizes"]["parts"].as_array().unwrap();
        let forms = ["", " for avx2", " for avx512"].map(|form| format!("conv2.weight{form}"));
        let found = forms.each_ref().map(|name| parts.iter().any(|part| part["name"] == **name));
        // All instruction sets read the same packed float32 weights.
        assert_eq!(found, [true, false, false], "{parts:?}");
        assert!(!html.contains("once for each instruction set"));
        assert!(html.contains("The slowest layers") && unbalanced(&html).is_empty());
    }
}
