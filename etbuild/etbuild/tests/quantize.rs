//! Quantization through the command: results, errors and explanations.

use crate::support::{Place, repository, tensors};

const CALIBRATION: &str = "examples/digits/calibration.safetensors";

const RECIPE: &str = "etbuild: 1\nname: r\ntargets: [linux-x86_64]\n";

/// The command on a recipe with this value of `quantize`.
fn recipe(place: &Place, quantize: &str) -> String {
    let model = repository().join("examples/digits/digits.pt2");
    let text = format!("{RECIPE}model: {{ pt2: {} }}\nquantize: {quantize}\n", model.display());
    place.file("r.yaml", text).display().to_string()
}

fn calibration() -> String {
    repository().join(CALIBRATION).display().to_string()
}

#[track_caller]
fn refused(quantize: &str, status: i32, code: &str, help: &str) {
    let place = Place::cold();
    let recipe = recipe(&place, quantize);
    let json = place.run(&format!("explain --quantization {recipe} --output json")).expect(status).json();
    let found = json["diagnostics"][0].clone();
    let found = if found.is_null() { json["programs"][0]["diagnostics"][0].clone() } else { found };
    assert_eq!(found["code"], code, "{json}");
    assert!(found["help"].as_str().unwrap_or_default().contains(help), "{json}");
}

#[test]
fn a_quantized_model_computes_nearly_the_same() {
    let place = Place::cold();
    let outputs = place.path().join("outputs.safetensors");
    for (scheme, limit) in [("int8", 0.5), ("dynamic-int8", 0.5), ("int8-weights", 0.25), ("8da4w", 1.5)] {
        let words = format!(
            "run examples/digits/digits.pt2 --inputs examples/digits/test.safetensors --outputs {} \
             --set quantize.scheme={scheme} --set quantize.calibrate={CALIBRATION}",
            outputs.display()
        );
        place.run(&words).expect(0);
        let difference = tensors::max_difference(&outputs, &repository().join("examples/digits/test.safetensors"));
        assert!(difference > 0.0 && difference < limit, "{scheme}: {difference}");
    }
}

#[test]
fn the_cpu_backend_equals_the_portable_kernels() {
    let place = Place::cold();
    let limits =
        [("int8", 0.2), ("dynamic-int8", 1e-4), ("int8-weights", 1e-4), ("int4-weights", 1e-4), ("8da4w", 0.05)];
    for (scheme, limit) in limits {
        let [portable, engine] = ["portable", "cpu"].map(|partition| {
            let outputs = place.path().join(format!("{partition}.safetensors"));
            let words = format!(
                "run examples/digits/digits.pt2 --inputs examples/digits/test.safetensors --outputs {} \
                 --partition {partition} --set quantize.scheme={scheme} --set quantize.calibrate={CALIBRATION}",
                outputs.display()
            );
            place.run(&words).expect(0);
            outputs
        });
        let difference = tensors::max_difference(&engine, &portable);
        assert!(difference < limit, "{scheme}: {difference}");
        assert_eq!(tensors::predictions(&engine), tensors::predictions(&portable), "{scheme}");
    }
}

#[test]
fn losses_are_shown_by_layer() {
    let place = Place::cold();
    let recipe = recipe(&place, &format!("{{ scheme: int8, calibrate: {} }}", calibration()));
    let json = place.run(&format!("explain --quantization {recipe} --output json")).expect(0).json();
    let layers = json["programs"][0]["layers"].as_array().unwrap();
    assert!(layers.len() >= 6, "{json}");
    assert!(layers.iter().all(|layer| layer["sqnr"].as_f64().unwrap() > 25.0), "{json}");
    let text = place.run(&format!("explain --quantization {recipe}")).expect(0).stdout;
    assert!(text.contains("aten.linear.default"), "{text}");
}

#[test]
fn another_option_runs_the_stage_again_and_the_same_does_not() {
    let place = Place::cold();
    let recipe = recipe(&place, &format!("{{ scheme: int8, calibrate: {} }}", calibration()));
    let stages = |options: &str| {
        let json = place.run(&format!("plan {recipe} {options} --output json")).expect(0).json();
        let rows = json["units"][0]["stages"].as_array().unwrap().clone();
        let state = |row: &serde_json::Value| (row["stage"].to_string(), row["state"].to_string());
        rows.iter().map(state).find(|(stage, _)| stage.contains("quantize")).map(|(_, state)| state)
    };
    place.run(&format!("explain --quantization {recipe}")).expect(0);
    assert_eq!(stages("").as_deref(), Some("\"cached\""));
    assert_eq!(stages("--set quantize.observer=mse").as_deref(), Some("\"missing\""));
}

#[test]
fn a_static_scheme_needs_calibration_data() {
    refused("{ scheme: int8 }", 3, "ETB0209", "calibrate");
}

#[test]
fn calibration_data_must_fit() {
    let test = repository().join("etbuild/etbuild/tests/data/eigenvalues.pt2");
    refused(&format!("{{ scheme: int8, calibrate: {} }}", test.display()), 3, "ETB0211", "");
}

#[test]
fn a_layer_must_exist() {
    let layers = "layers: [{ name: \"encoder.*\", scheme: float }]";
    refused(&format!("{{ scheme: dynamic-int8, {layers} }}"), 3, "ETB0210", "there are");
}

#[test]
fn a_loss_beyond_the_limit_fails() {
    let place = Place::cold();
    let options = format!("{{ scheme: int8, calibrate: {}, min_sqnr: 60 }}", calibration());
    let recipe = recipe(&place, &options);
    let json = place.run(&format!("build {recipe} --output json")).expect(8).json();
    assert!(json.to_string().contains("ETB0709"), "{json}");
}

/// `quantize` with these words about accuracy on the test images.
fn accuracy(more: &str) -> String {
    let test = repository().join("examples/digits/test.safetensors");
    let data = format!("{{ data: {}, {more} }}", test.display());
    format!("{{ scheme: int8, calibrate: {}, accuracy: {data} }}", calibration())
}

/// The same with ranges so narrow that the images cannot be read any more.
fn spoilt(more: &str) -> String {
    let whole = accuracy(more);
    format!("{}, observer: percentile, percentile: 50 }}", whole.strip_suffix(" }").unwrap())
}

#[test]
fn right_answers_are_counted_before_and_after() {
    let place = Place::cold();
    let recipe = recipe(&place, &accuracy("max_loss: 0.5"));
    let json = place.run(&format!("explain --quantization {recipe} --output json")).expect(0).json();
    let answers = &json["programs"][0]["answers"];
    assert_eq!((&answers["cases"], &answers["before"]), (&360.into(), &357.into()));
    // Half a point is 1.8 images.
    assert!(answers["after"].as_u64().unwrap() >= 356, "{answers}");
}

#[test]
fn more_lost_answers_than_allowed_fail_with_place_and_hint() {
    let place = Place::cold();
    let recipe = recipe(&place, &spoilt("max_loss: 0.5"));
    let json = place.run(&format!("build {recipe} --output json")).expect(8).json();
    let found = &json["diagnostics"][0];
    assert_eq!(found["code"], "ETB0710", "{json}");
    assert_eq!(found["span"]["start"]["line"], 5, "{found}");
    assert!(found["help"].as_str().unwrap().contains("--search"), "{found}");
}

#[test]
fn labels_must_fit() {
    refused(&accuracy("labels: answers"), 3, "ETB0212", "it has");
    refused(&accuracy("labels: x"), 3, "ETB0212", "int64");
    refused(&accuracy("labels: labels, metric: f1"), 3, "ETB0110", "");
}

#[test]
fn no_limit_means_no_measurement() {
    let place = Place::cold_with_compiled_crates();
    let recipe = recipe(&place, &format!("{{ scheme: int8, calibrate: {} }}", calibration()));
    place.run(&format!("build {recipe}")).expect(0);
    let json = place.run(&format!("plan {recipe} --set quantize.min_sqnr=10 --output json")).expect(0).json();
    let state = |stage: &str| {
        let rows = json["units"][0]["stages"].as_array().unwrap();
        rows.iter().find(|row| row["stage"] == stage).unwrap()["state"].clone()
    };
    assert_eq!((state("quantize"), state("measure")), ("cached".into(), "missing".into()), "{json}");
}

#[test]
fn a_changed_limit_repeats_no_measurement() {
    let place = Place::cold();
    let recipe = recipe(&place, &accuracy("max_loss: 0.5"));
    let states = |options: &str| {
        let json = place.run(&format!("plan {recipe} {options} --output json")).expect(0).json();
        let rows = json["units"][0]["stages"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["stage"] == "measure").unwrap()["state"].clone()
    };
    assert_eq!(states(""), "waiting");
    place.run(&format!("explain --quantization {recipe}")).expect(0);
    assert_eq!((states(""), states("--set quantize.accuracy.max_loss=3")), ("cached".into(), "cached".into()));
    assert_eq!(states("--set quantize.min_sqnr=10"), "cached");
    assert_eq!(states("--set quantize.min_sqnr=99"), "failed");
}

/// The proposal of `--search` for a loss.
fn search(quantize: &str, loss: &str) -> serde_json::Value {
    let place = Place::cold();
    let recipe = recipe(&place, quantize);
    let words = format!("explain --quantization --search {loss} {recipe} --output json");
    place.run(&words).expect(0).json()["proposals"][0].clone()
}

#[test]
fn proposed_layers_reach_the_limit() {
    let quantize = format!("{{ scheme: int8, calibrate: {} }}", calibration());
    let found = search(&quantize, "45dB");
    let (before, after) = (found["before"]["sqnr"].as_f64().unwrap(), found["after"]["sqnr"].as_f64().unwrap());
    assert!(before < 45.0 && after >= 45.0, "{found}");
    let layers = found["layers"].as_array().unwrap();
    assert!(!layers.is_empty() && layers.len() < found["candidates"].as_u64().unwrap() as usize, "{found}");
    // The printed options work when pasted into a recipe.
    let lines: Vec<String> =
        layers.iter().map(|layer| format!("{{ name: {}, scheme: float }}", layer["name"])).collect();
    let pasted = format!("{}, layers: [{}] }}", quantize.trim_end_matches(" }"), lines.join(", "));
    let again = search(&pasted, "45dB");
    assert_eq!((&again["before"]["sqnr"], &again["layers"]), (&found["after"]["sqnr"], &serde_json::json!([])));
}

#[test]
fn all_layers_stay_in_float_without_allowed_loss() {
    let quantize = format!("{{ scheme: int8, calibrate: {} }}", calibration());
    let found = search(&quantize, "500dB");
    assert_eq!(found["layers"].as_array().unwrap().len() as u64, found["candidates"].as_u64().unwrap(), "{found}");
    assert_eq!(found["after"]["sqnr"], serde_json::Value::Null);
}

#[test]
fn points_are_searched_on_labelled_data() {
    let found = search(&spoilt("labels: labels"), "0.5pt");
    let lost = |which: &str| found[which]["lost"].as_f64().unwrap();
    assert!(lost("before") > 0.5 && lost("after") <= 0.5, "{found}");
    let place = Place::cold();
    let unlabelled = recipe(&place, &format!("{{ scheme: int8, calibrate: {} }}", calibration()));
    let refused = place.run(&format!("explain --quantization --search 0.5pt {unlabelled} --output json")).expect(3);
    assert_eq!(refused.json()["diagnostics"][0]["code"], "ETB0212");
    place.run(&format!("explain --quantization --search 5 {unlabelled}")).expect(2);
    place.run(&format!("explain --search 5dB {unlabelled}")).expect(2);
}
