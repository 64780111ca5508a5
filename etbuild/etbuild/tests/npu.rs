//! The backend `qnn`: built by the vendor's compiler and executed on its simulator. Needs `QNN_SDK_ROOT`, the vendor's kit; without it
//! these tests fail, unless `ETBUILD_SKIP_NPU=1` skips them.

use std::fs;
use std::process::Command;

use crate::support::{Place, RECIPE, Ran, python, repository, tensors, unit};

const TARGET: &str = "linux-x86_64";

/// Whether the vendor's kit is here.
///
/// # Panics
/// Without a kit, unless `ETBUILD_SKIP_NPU=1` is set.
#[expect(clippy::print_stderr, reason = "nobody should take a skipped test for a passed one")]
pub fn has_kit() -> bool {
    let has = std::env::var_os("QNN_SDK_ROOT").is_some();
    if !has {
        let skips = std::env::var_os("ETBUILD_SKIP_NPU").is_some_and(|value| value == "1");
        assert!(skips, "set QNN_SDK_ROOT to Qualcomm's kit, or ETBUILD_SKIP_NPU=1 to skip the test");
        eprintln!("skipped: needs Qualcomm's kit");
    }
    has
}

/// A recipe of the digits in integers, for the NPU alone.
fn recipe(place: &Place, scheme: &str) -> String {
    let example = |name: &str| repository().join("examples/digits").join(name).display().to_string();
    let text = format!(
        "etbuild: 1\nname: digits-npu\nmodel: {{ pt2: {} }}\npartition: [qnn]\ntargets: [{TARGET}]\n\
         quantize: {{ scheme: {scheme}, calibrate: {} }}\nverify: {{ inputs: {}, tolerance: null, max_loss: 0.5 }}\n",
        example("digits.pt2"),
        example("calibration.safetensors"),
        example("test.safetensors"),
    );
    place.file("npu.yaml", text).display().to_string()
}

fn without_kit(command: &mut Command) -> &mut Command {
    command.env("QNN_SDK_ROOT", "/no/kit")
}

#[test]
fn a_binary_computes_on_the_npu_what_pytorch_computed() {
    if !has_kit() {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let recipe = recipe(&place, "w8a8");
    let result = place.json(&format!("deploy {recipe}"));
    let verification = &unit(&result, TARGET)["verification"];
    assert_eq!((&verification["state"], &verification["cases"]), (&"done".into(), &360.into()), "{result}");
    let right = verification["same_prediction"].as_u64().unwrap();
    assert!(right >= 357, "{verification}");

    let case = tensors::first_cases(&repository().join("examples/digits/test.safetensors"), 1);
    let inputs = place.file("case.safetensors", case);
    let mut binary = Command::new(place.out().join(format!("digits-npu/{TARGET}/digits-npu")));
    let failed = Ran::of(without_kit(binary.arg("--inputs").arg(inputs))).expect(8);
    assert!(failed.stderr.contains("delegate 0: `QNN_SDK_ROOT` names /no/kit"), "{}", failed.stderr);
}

/// Without a kit, the simulation gives the integers of the NPU.
#[test]
fn the_simulation_gives_the_outputs_of_the_npu_without_the_kit() {
    if !has_kit() {
        return;
    }
    let place = Place::warm();
    let recipe = recipe(&place, "w8a8");
    let file = |name: &str| place.path().join(name).display().to_string();
    let explain = ["explain", "--quantization", "--simulate", "qnn", &recipe, "--output", "json"];
    let mut command = place.command(explain);
    let command = command.args(["--outputs", &file("simulated.safetensors")]);
    let explained = Ran::of(without_kit(command)).expect(0).json();
    let output = &explained["outputs"][0];
    assert!(output["samples"].as_u64() > Some(1) && output["simulated_sqnr"].as_f64() > Some(30.0), "{explained}");

    let case = tensors::first_cases(&repository().join("examples/digits/calibration.safetensors"), 1);
    let case = place.file("case.safetensors", case).display().to_string();
    let words = ["run", &recipe, "--partition", "qnn", "--inputs", &case];
    Ran::of(place.command(words).args(["--outputs", &file("npu.safetensors")])).expect(0);
    let [simulated, npu] = ["simulated", "npu"].map(|name| {
        let file = fs::read(file(&format!("{name}.safetensors"))).unwrap();
        let bytes = tensors::tensor(&file, "output_0").bytes;
        bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect::<Vec<f32>>()
    });
    // The simulation has all samples, whose range has 255 steps.
    let most = simulated.iter().copied().fold(f32::MIN, f32::max);
    let step = (most - simulated.iter().copied().fold(f32::MAX, f32::min)) / 255.0;
    let worst = npu.iter().zip(&simulated).map(|(npu, simulated)| (npu - simulated).abs()).fold(0.0, f32::max);
    assert!(npu.len() == 10 && worst < 1.5 * step, "{worst} with steps of {step}: {npu:?}");

    let failed = place.run(&format!("explain --quantization --simulate gpu {recipe}")).expect(3);
    assert!(failed.stderr.contains("there is no simulation of the backend `gpu`"), "{}", failed.stderr);
}

#[test]
fn the_same_graph_gives_the_same_bytes() {
    if !has_kit() {
        return;
    }
    let program = |scheme: &str| {
        let place = Place::cold_with_compiled_crates();
        place.run(&format!("build {}", recipe(&place, scheme))).expect(0);
        fs::read(place.out().join(format!("digits-npu/{TARGET}/digits-npu.pte"))).unwrap()
    };
    assert!(program("w4a16") == program("w4a16"), "two builds differ");
}

#[test]
fn every_node_runs_on_the_npu() {
    if !has_kit() {
        return;
    }
    let place = Place::warm();
    for scheme in ["w8a8", "w8a16", "w4a16"] {
        let words = format!("explain --partition {}", recipe(&place, scheme));
        let explained = place.json(&words).to_string();
        assert!(!explained.contains("portable"), "{scheme}: {explained}");
    }
}

/// A recipe of the trained tiny Llama in integers.
fn language_recipe(place: &Place, partition: &str) -> String {
    let example = repository().join("examples/tiny-llama");
    let text = format!(
        "etbuild: 1\nname: tales\nmodel: {{ checkpoint: {} }}\nexport: {{ context: 160, prefill: [4, 8] }}\n\
         quantize: {{ scheme: w4a16, group_size: 32, calibrate: {} }}\npartition: [{partition}]\ntargets: [{TARGET}]\n",
        example.join("model").display(),
        example.join("calibration.txt").display(),
    );
    place.file(&format!("{}.yaml", partition.replace(", ", "-")), text).display().to_string()
}

/// The KV cache, in int8, goes from chunk to chunk of the prompt and from there to decoding.
#[test]
fn a_language_model_writes_the_tokens_of_the_simulation() {
    if !has_kit() {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let write = |partition: &str| {
        let words = format!("run {} --max-new-tokens 100 --temperature 0", language_recipe(&place, partition));
        let mut command = place.command(words.split(' '));
        Ran::of(command.args(["--prompt", "Once there was a fox called Dan. Dan had a green box."])).expect(0).stdout
    };
    let written = write("qnn, cpu");
    assert!(written.split(' ').count() > 40, "{written}");
    assert_eq!(written, write("portable"));
    let explained = place.run(&format!("explain --partition {}", language_recipe(&place, "qnn, cpu"))).expect(0).stdout;
    assert!(explained.contains("qnn") && explained.contains("in 3 calls"), "{explained}");
}

/// Without a kit, the simulation writes the tokens of the NPU: prefill in chunks and decode hand over the KV cache.
#[test]
fn a_simulated_language_model_writes_the_tokens_of_the_npu() {
    if !has_kit() {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let (recipe, tokens) = (language_recipe(&place, "qnn, cpu"), place.path().join("tokens"));
    let text = place
        .file("text.txt", "Once there was a fox called Dan. Dan had a green box. The box was big, and Dan was happy.");
    let words = format!("explain --quantization --simulate qnn {recipe} --text {} --output json", text.display());
    let explained = Ran::of(without_kit(&mut place.command(words.split(' ')))).expect(0).json();
    let language = &explained["language"];
    let perplexity = |variant: &str| language[variant]["perplexity"].as_f64().unwrap();
    assert!(perplexity("simulated") <= 1.05 * perplexity("float"), "{language}");
    let simulated: Vec<String> =
        language["simulated"]["written"].as_array().unwrap().iter().map(ToString::to_string).collect();

    let run = format!("run {recipe} --max-new-tokens 100 --temperature 0 --tokens-out {}", tokens.display());
    let mut command = place.command(run.split(' '));
    Ran::of(command.args(["--prompt", language["simulated"]["prompt"].as_str().unwrap()])).expect(0);
    let written = fs::read_to_string(tokens).unwrap();
    assert!(simulated.len() > 30, "{language}");
    assert_eq!(written.split_whitespace().collect::<Vec<_>>(), simulated);
}

/// A call executes the smallest graph that reads its past: the borders are crossed while the prompt is read and while tokens are written.
#[test]
fn graphs_for_several_context_lengths_write_the_tokens_of_one_long_graph() {
    if !has_kit() {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let write = |context: &str| {
        let tokens = place.path().join("tokens");
        let recipe = language_recipe(&place, "qnn, cpu");
        let run = format!("run {recipe} --max-new-tokens 100 --temperature 0 --tokens-out {}", tokens.display());
        let mut command = place.command(run.split(' '));
        command.args(["--set", &format!("export.context={context}"), "--prompt"]);
        let prompt = "Once there was a fox called Dan. Dan had a green box. The box was big, and Dan was happy.";
        let ran = Ran::of(command.arg(prompt)).expect(0);
        fs::read_to_string(tokens).unwrap() + &ran.stdout
    };
    let written = write("160");
    assert!(written.split_whitespace().count() > 60, "{written}");
    assert_eq!(written, write("[16, 48, 160]"));
}

/// A program with more weights than a context may have is split between layers: the NPU computes the same.
#[test]
fn several_contexts_write_the_tokens_of_one() {
    if !has_kit() {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let recipe = language_recipe(&place, "qnn, cpu");
    let write = |most: &str| {
        let run = format!("run {recipe} --max-new-tokens 100 --temperature 0");
        let mut command = place.command(run.split(' '));
        command.args(["--set", &format!("export.npu_context={most}"), "--prompt", "Once there was a fox called Dan."]);
        Ran::of(&mut command).expect(0).stdout
    };
    let calls = |most: &str| {
        let words = ["explain", "--partition", &recipe, "--set", &format!("export.npu_context={most}")];
        Ran::of(&mut place.command(words)).expect(0).stdout
    };
    let (one, several) = (calls("1 GiB"), calls("100 KiB"));
    // Three methods in nine contexts.
    assert!(one.contains("in 3 calls") && several.contains("in 27 calls"), "{several}");
    let written = write("1 GiB");
    assert!(written.split(' ').count() > 40, "{written}");
    assert_eq!(written, write("100 KiB"));
}

/// Methods share contexts, and each context is compiled by an action of its own.
#[test]
fn a_changed_weight_compiles_one_of_several_contexts() {
    if !has_kit() {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let example = repository().join("examples/tiny-llama/model");
    let mut model = place.path().join("model");
    for file in fs::read_dir(&example).unwrap().map(|entry| entry.unwrap().file_name()) {
        let bytes = fs::read(example.join(&file)).unwrap();
        model = place.file(&format!("model/{}", file.display()), bytes).parent().unwrap().to_owned();
    }
    let text = format!(
        "etbuild: 1\nname: tales\nmodel: {{ checkpoint: {} }}\nexport: {{ context: 160, prefill: 8, npu_context: 100 KiB }}\n\
         partition: [qnn, cpu]\ntargets: [{TARGET}]\n",
        model.display()
    );
    let recipe = place.file("halves.yaml", text).display().to_string();
    // Beside contexts, the stage has an action for each method, one that groups partitions and one that joins contexts.
    let contexts = || {
        let checked = Ran::of(&mut place.command(["check", &recipe, "--progress", "plain"])).expect(0).stderr;
        let ran = checked.lines().filter(|line| line.starts_with("delegate ") && line.contains(" s "));
        ran.count().saturating_sub(4)
    };
    let all = contexts();
    assert!(all > 2, "{all}");
    let weights = model.join("model.safetensors");
    let mut bytes = fs::read(&weights).unwrap();
    let start = tensors::start(&bytes, "model.layers.0.mlp.down_proj.weight");
    // A bit of the second weight, in bf16, that fp16 keeps too.
    bytes[start + 2] ^= 0x10;
    fs::write(&weights, bytes).unwrap();
    assert_eq!(contexts(), 1);
}

/// The recipe of a phone, with a smaller model of the same form and random weights.
#[test]
fn the_recipe_of_a_phone_compiles_for_the_chip_and_writes_the_tokens_of_the_simulation() {
    let Some(python) = python::with("torch and transformers") else { return };
    if !has_kit() {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let (model, script) = (place.path().join("model"), repository().join("etbuild/etbuild/tests/llama_shape.py"));
    Ran::of(Command::new(python).arg(script).arg(&model).arg(repository().join("examples/tiny-llama/model"))).expect(0);
    let ran = |words: &str| {
        let recipe = format!("recipes/llama-s25.yaml --set model.checkpoint={}", model.display());
        let words = words.replace("RECIPE", &recipe);
        Ran::of(place.command(words.split(' ')).env("MODELS", place.path())).expect(0).stdout
    };
    let explained = ran("explain --partition RECIPE --target galaxy-s25");
    assert!(explained.contains("qnn") && explained.contains("in 2 calls"), "{explained}");
    ran("check RECIPE --target galaxy-s25");
    let write = |partition: &str| {
        let tokens = place.path().join("tokens");
        let run = format!("run RECIPE --partition {partition} --prompt Once --max-new-tokens 40 --temperature 0");
        ran(&format!("{run} --tokens-out {}", tokens.display()));
        fs::read_to_string(tokens).unwrap()
    };
    let written = write("qnn,cpu");
    assert_eq!(written.split_whitespace().count(), 40, "{written}");
    assert_eq!(written, write("portable"));
}

#[test]
fn a_machine_without_the_kit_is_told_what_to_install() {
    let place = Place::warm();
    let recipe = recipe(&place, "w8a8");
    let failed = Ran::of(without_kit(&mut place.command(["build", &recipe]))).expect(1);
    assert!(failed.stderr.contains("ETB0501") && failed.stderr.contains("npu.yaml:4"), "{}", failed.stderr);
    assert!(failed.stderr.contains("`QNN_SDK_ROOT` names /no/kit, which has no libQnnHtp.so"), "{}", failed.stderr);
    let doctor = Ran::of(without_kit(&mut place.command(["doctor", "--output", "json"]))).expect(0).json();
    assert!(doctor["npu"][0]["problem"].as_str().unwrap().contains("/no/kit"), "{doctor}");
}

#[test]
fn another_compiler_is_another_action() {
    let place = Place::warm();
    let planned = |kit: &str| {
        let kit = place.path().join(kit);
        fs::create_dir_all(&kit).unwrap();
        fs::write(kit.join("libQnnHtp.so"), kit.display().to_string()).unwrap();
        let words = ["plan", RECIPE, "--target", TARGET, "--partition", "qnn", "--output", "json"];
        Ran::of(place.command(words).env("QNN_SDK_ROOT", &kit)).expect(0).json().to_string()
    };
    let (first, second) = (planned("one"), planned("two"));
    assert!(first == planned("one") && first != second, "{first}");
}

/// Values inside a partition of the NPU are not visible, and its outputs are.
#[test]
fn outputs_of_the_npu_are_compared_with_the_model_before_quantization() {
    if !has_kit() {
        return;
    }
    let place = Place::warm();
    let debugged = place.json(&format!("debug {}", recipe(&place, "w8a8")));
    let values = debugged["values"].as_array().unwrap();
    assert!(values.len() == 1 && debugged["first"].is_null(), "{debugged}");
    assert!(values[0]["sqnr"].as_f64() > Some(20.0), "{debugged}");
}
