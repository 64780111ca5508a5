//! Programs whose inputs are what microphones and cameras give: features and pictures are those of torch and Pillow, here and on boards.
//! Needs `ETBUILD_TEST_PYTHON`, a Python with torch and Pillow; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{self, Place, Ran, repository, tensors, unit};

/// A folder with the files of a part of the script, where commands run; `None` without a Python.
fn place(part: &str) -> Option<Place> {
    let python = support::python::with("torch, safetensors and Pillow")?;
    let mut place = Place::cold_with_compiled_crates();
    place.root = place.path().to_owned();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/front_ends.py");
    Ran::of(Command::new(python).arg(script).args([OsStr::new(part), place.path().as_os_str()])).expect(0);
    Some(place)
}

/// Writes a recipe for a model and its input.
fn recipe(place: &Place, name: &str, model: &str, input: &str) {
    let text = format!(
        "etbuild: 1\nname: {name}\nmodel: {{ pt2: {model}.pt2 }}\ntargets: [linux-x86_64]\ninputs: {{ input: {{ {input} }} }}\n"
    );
    place.file(&format!("{name}.yaml"), text);
}

/// Runs a recipe with a file; returns the bytes of the file of outputs.
fn outputs(place: &Place, name: &str, inputs: &str) -> Vec<u8> {
    let file = place.path().join("outputs.safetensors");
    place.run(&format!("run {name}.yaml --inputs {inputs} --outputs {}", file.display())).expect(0);
    fs::read(file).unwrap()
}

/// The greatest difference between the last outputs and a file.
fn difference(place: &Place, expected: &str) -> f64 {
    tensors::max_difference(&place.path().join("outputs.safetensors"), &place.path().join(expected))
}

#[test]
fn features_are_those_of_torch() {
    let Some(place) = place("features") else { return };
    for (name, length, features, bound) in [
        (
            "mfcc",
            "length: 16000, ",
            "n_fft: 512, win_length: 480, hop_length: 320, center: false, n_mels: 40, f_min: 20, f_max: 4000, log: ln, n_mfcc: 10",
            2e-3,
        ),
        ("bands", "length: 16000, ", "hop_length: 160, n_mels: 32", 5e-3),
        ("flat", "length: 16000, ", "n_fft: 640, n_mels: 20, center: false, log: ln", 1e-3),
    ] {
        recipe(&place, name, name, &format!("audio: {{ rate: 16000, {length}features: {{ {features} }} }}"));
        let tensor = outputs(&place, name, "sound.safetensors");
        assert_eq!(outputs(&place, name, "sound.wav"), tensor, "{name}");
        let found = difference(&place, &format!("{name}.expected.safetensors"));
        assert!(found <= bound, "{name}: {found}");
    }
    let refused = place.run("run mfcc.yaml --inputs sound.wav --set inputs.input.audio.length=15000").expect(3);
    assert!(refused.stderr.contains("15000 samples have 46 frames of 10 features"), "{}", refused.stderr);
}

#[test]
fn a_stream_has_the_features_of_its_last_samples() {
    let Some(place) = place("stream") else { return };
    let features =
        "n_fft: 512, win_length: 480, hop_length: 320, center: false, n_mels: 40, f_min: 20, f_max: 4000, log: ln";
    let input =
        |length: u32| format!("audio: {{ rate: 16000, length: {length}, stream: true, features: {{ {features} }} }}");
    recipe(&place, "stream", "stream", &input(640));
    outputs(&place, "stream", "steps.safetensors");
    let found = difference(&place, "stream.expected.safetensors");
    assert!(found <= 1e-3, "{found}");
    recipe(&place, "long", "stream", &input(320 * 50));
    let refused = place.run("check long.yaml").expect(3);
    assert!(refused.stderr.contains("takes 1 to 49 steps of 320 samples"), "{}", refused.stderr);
}

#[test]
fn the_picture_of_a_camera_is_that_of_a_file() {
    let Some(place) = place("camera") else { return };
    for (index, (model, steps)) in [
        ("colors", "resize: 96, crop: 96, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]"),
        ("colors", "color: bgr, resize: [110, 96], crop: 96, filter: bicubic, mean: 0.5, std: 0.5"),
        ("colors", "resize: [96, 96], filter: nearest, scale: 1"),
        ("colors", "resize: [97, 101], crop: 96, filter: lanczos"),
        ("rows", "resize: 96, crop: 96, filter: box, layout: nhwc"),
        ("luma", "color: gray, resize: [48, 64]"),
    ]
    .into_iter()
    .enumerate()
    {
        let (file, camera) = (format!("file{index}"), format!("camera{index}"));
        recipe(&place, &file, model, &format!("image: {{ {steps} }}"));
        recipe(&place, &camera, model, &format!("image: {{ {steps}, frame: [120, 160], pixels: rgb888 }}"));
        let expected = outputs(&place, &file, "picture.png");
        assert_eq!(outputs(&place, &camera, "picture.png"), expected, "{steps}");
        assert_eq!(outputs(&place, &camera, "picture.safetensors"), expected, "{steps}");
    }
    let steps =
        "image: { color: gray, scale: 1, filter: bicubic, resize: [48, 64], frame: [120, 160], pixels: rgb565 }";
    recipe(&place, "short", "luma", steps);
    outputs(&place, "short", "short.safetensors");
    assert_eq!(difference(&place, "luma.safetensors"), 0.0);
    recipe(&place, "small", "colors", "image: { frame: [90, 160], crop: 96 }");
    let refused = place.run("check small.yaml").expect(3);
    assert!(
        refused.stderr.contains("the picture of 90x160 pixels is smaller than the crop of 96x96"),
        "{}",
        refused.stderr
    );
}

/// The rows that causal convolutions keep are integers, and one partition computes the network with them.
#[test]
fn convolutions_of_a_stream_keep_integers() {
    let Some(place) = place("causal") else { return };
    for (scheme, bytes, error) in [("int8", 544, 0.15), ("int16x8", 1088, 0.05)] {
        let text = format!(
            "etbuild: 1\nname: causal\nmodel: {{ pt2: causal.pt2 }}\ntargets: [mps2-an505, riscv-virt]\n\
             quantize: {{ scheme: {scheme}, calibrate: calibration.safetensors }}\n\
             verify: {{ inputs: test.safetensors, tolerance: {error} }}\n"
        );
        place.file("causal.yaml", text);
        let result = place.json("deploy causal.yaml");
        for board in ["mps2-an505", "riscv-virt"] {
            let unit = unit(&result, board);
            assert!(unit["fallback"].is_null(), "{scheme} on {board}: {unit}");
            if unit["verification"]["state"] != "skipped" {
                assert_eq!((&unit["verification"]["cases"], &unit["same_bits"]), (&16.into(), &true.into()), "{unit}");
            }
        }
        let files = unit(&result, "mps2-an505")["files"].as_array().unwrap().iter();
        let mut paths = files.filter_map(|file| file["path"].as_str());
        let program = paths.find(|path| path.ends_with(".pte")).unwrap_or_else(|| panic!("{result}"));
        let inspected = place.run(&format!("inspect {program} --output json")).expect(0).json();
        let states = inspected["methods"][0]["state"].as_array().unwrap().iter();
        assert_eq!(states.map(|state| state["tensor"]["size"].as_u64().unwrap()).sum::<u64>(), bytes, "{inspected}");
    }
}

/// The recipes of MLPerf Tiny from sensors, on two processors.
#[test]
fn the_recipes_of_mlperf_tiny_take_what_sensors_give() {
    let Some(place) = place("tinyml") else { return };
    let names = ["keyword-spotting", "visual-wake-words", "image-classification", "anomaly-detection"];
    for name in names {
        let text = fs::read_to_string(repository().join(format!("examples/tinyml/{name}.yaml"))).unwrap();
        place.file(&format!("{name}.yaml"), text);
    }
    let verified = |words: &str, board: &str, cases: u64| {
        let result = place.json(words);
        let verification = &unit(&result, board)["verification"];
        if verification["state"] != "skipped" {
            assert_eq!(
                (&verification["state"], &verification["cases"]),
                (&"done".into(), &cases.into()),
                "{verification}"
            );
        }
    };
    for (name, board) in names.into_iter().zip(["mps2-an505", "mps2-an505", "riscv-virt", "riscv-virt"]) {
        verified(&format!("deploy {name}.yaml --target {board}"), board, 2);
        let report = place.run(&format!("report {name}.yaml --target {board} --output json")).expect(0).stdout;
        assert!(report.contains("\"et_runtime::") && !report.contains("core::panicking"), "{name} on {board}");
    }
    // The system timer of the first board counts 24 bits in a tenth of a second, and these inferences take longer.
    let slow = ["netduinoplus2", "mps2-an386"].map(|board| {
        let result = place.json(&format!("deploy keyword-spotting.yaml --partition portable --target {board}"));
        unit(&result, board)["cost"]["instructions"].as_u64()
    });
    if let [Some(first), Some(second)] = slow {
        assert!(first > 110_000_000 && first.abs_diff(second) < 200, "{slow:?}");
    }
    let set = "--set inputs.input.audio.stream=true --set model.pt2=out/stream.pt2 --set quantize.calibrate=out/stream-calibration.safetensors \
               --set verify.inputs=out/stream-test.safetensors";
    verified(&format!("deploy keyword-spotting.yaml --target mps2-an505 {set}"), "mps2-an505", 6);
}

/// The stack of the networks in int8 has a bound on processors whose branches are short, and on one with the DSP extension: at least what the
/// run used.
#[test]
fn the_networks_of_mlperf_tiny_have_a_bound_of_their_stack() {
    let Some(place) = place("tinyml") else { return };
    for name in ["keyword-spotting", "visual-wake-words", "image-classification", "anomaly-detection"] {
        let text = fs::read_to_string(repository().join(format!("examples/tinyml/{name}.yaml"))).unwrap();
        place.file(&format!("{name}.yaml"), text);
        let result = place.json(&format!("deploy {name}.yaml --target pico --target mps2-an386"));
        for board in ["pico", "mps2-an386"] {
            let unit = unit(&result, board);
            let bound = unit["stack"]["bytes"].as_u64().unwrap_or_else(|| panic!("{unit}"));
            let used = unit["cost"]["stack"].as_u64().unwrap_or(bound);
            assert!((1024..4096).contains(&bound) && used <= bound, "{name}: {used} of {bound} bytes of stack");
        }
    }
}
