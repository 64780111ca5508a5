//! Language models from checkpoints: the logits of every family equal those of transformers, for a prompt in prefill
//! chunks and then for single tokens; damaged checkpoints are refused. Needs `ETBUILD_TEST_PYTHON`, a Python with torch
//! and transformers; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use et_module::safetensors::SafeTensors;
use etbuild_engine::{Event, Mode, World, program_file};
use etbuild_system::RealSystem;

use crate::support::logits::{Model, difference, largest_difference};
use crate::support::{self, Place};

const FAMILIES: [&str; 9] =
    ["llama", "llama-biases", "smollm", "mistral", "qwen2", "qwen3", "phi3", "gemma2", "gemma3"];

/// The folder of all families, written once; `None` without a Python.
fn checkpoints() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| support::python::written_by("checkpoints.py", "torch and transformers", &[]));
    folder.as_ref().map(tempfile::TempDir::path)
}

#[test]
fn every_family_gives_the_logits_of_transformers() {
    let Some(folder) = checkpoints() else { return };
    let place = Place::cold();
    let mut wrong = BTreeMap::new();
    for family in FAMILIES {
        for piece in [16, 40] {
            let folder = folder.join(family);
            let mut model = Model::build(&folder.join("model"), &place.cache(), piece, &[]);
            let difference = largest_difference(&folder.join("expected.safetensors"), &mut model);
            if difference.is_nan() || difference > 1e-4 {
                wrong.insert(format!("{family} in pieces of {piece}"), difference);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn a_context_within_the_first_of_longrope_has_the_short_factors() {
    let Some(folder) = checkpoints() else { return };
    let (place, folder) = (Place::cold(), folder.join("phi3-short"));
    let mut model = Model::build(&folder.join("model"), &place.cache(), 16, &[]);
    let difference = largest_difference(&folder.join("expected.safetensors"), &mut model);
    assert!(difference < 1e-4, "{difference}");
}

#[test]
fn a_rotated_model_gives_the_logits_of_transformers() {
    let Some(folder) = checkpoints() else { return };
    let place = Place::cold();
    let mut wrong = BTreeMap::new();
    for family in FAMILIES.into_iter().filter(|family| !family.starts_with("gemma")) {
        // The portable kernels are the oracle: the difference is that of the rotation alone.
        let rotated = ["quantize.scheme=float", "quantize.rotate=hadamard", "partition=portable"];
        let folder = folder.join(family);
        let mut model = Model::build(&folder.join("model"), &place.cache(), 16, &rotated);
        let difference = largest_difference(&folder.join("expected.safetensors"), &mut model);
        if difference.is_nan() || difference > 1e-4 {
            wrong.insert(family, difference);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn a_model_that_cannot_be_rotated_is_refused() {
    let place = Place::cold();
    for family in ["gemma2", "gemma3"] {
        let Some(folder) = copy(&place, family) else { return };
        let said = refusal(&place, &folder, "--set quantize.scheme=8da4w --set quantize.rotate=hadamard");
        assert!(said.contains("cannot be rotated") && said.contains("normalizes behind attention"), "{said}");
    }
}

#[test]
fn int8_weights_give_the_logits_of_the_dequantized_weights() {
    let Some(folder) = checkpoints() else { return };
    let place = Place::cold();
    for family in ["llama", "llama-biases", "qwen3"] {
        for partition in ["partition=[portable]", "partition=[cpu]"] {
            let (folder, options) = (folder.join(family), ["quantize.scheme=int8-weights", partition]);
            let mut model = Model::build(&folder.join("model"), &place.cache(), 16, &options);
            let difference = largest_difference(&folder.join("expected-bytes.safetensors"), &mut model);
            assert!(difference < 1e-3, "{family}, {partition}: {difference}");
        }
    }
}

#[test]
fn the_cpu_backend_equals_portable_kernels_with_quantized_weights() {
    let Some(folder) = checkpoints() else { return };
    let place = Place::cold();
    for (family, options) in [
        ("qwen3", ["quantize.scheme=int4-weights", "quantize.group_size=16"]),
        ("llama-biases", ["quantize.scheme=int4-weights", "quantize.group_size=8"]),
        ("qwen3", ["quantize.scheme=int8-weights", "quantize.observer=mse"]),
        ("qwen3", ["quantize.scheme=dynamic-int8", "export.cache=float32"]),
    ] {
        let folder = folder.join(family);
        let logits = |partition: &str| {
            let options = [&options[..], &[partition]].concat();
            let mut model = Model::build(&folder.join("model"), &place.cache(), 16, &options);
            [model.logits(&[5, 9, 100, 7, 8, 11, 13, 40, 2, 6]), model.logits(&[31]), model.logits(&[3])].concat()
        };
        let most = if options[0].ends_with("weights") { 1e-3 } else { 0.3 };
        let difference = difference(&logits("partition=[portable]"), &logits("partition=[cpu]"));
        assert!(difference < most, "{family}, {options:?}: {difference}");
    }
}

#[test]
fn a_quantized_kv_cache_gives_close_logits_that_equal_a_simulation() {
    let Some(folder) = checkpoints() else { return };
    let place = Place::cold();
    let mut wrong = BTreeMap::new();
    for family in FAMILIES {
        for partition in ["partition=[portable]", "partition=[cpu]"] {
            for (cache, expected, most) in
                [("float16", "expected", 0.05), ("int8", "expected", 1.0), ("int8", "expected-cache", 1e-3)]
            {
                let (folder, option) = (folder.join(family), format!("export.cache={cache}"));
                let mut model = Model::build(&folder.join("model"), &place.cache(), 16, &[&option, partition]);
                let difference = largest_difference(&folder.join(format!("{expected}.safetensors")), &mut model);
                let what = format!("{family}, {cache}, {expected}, {partition}");
                if difference.is_nan() || difference > most {
                    wrong.insert(what, difference);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_text_is_refused_only_beyond_the_context() {
    let Some(folder) = checkpoints() else { return };
    let place = Place::cold();
    for family in ["qwen3", "mistral"] {
        let mut model = Model::build(&folder.join(family).join("model"), &place.cache(), 16, &[]);
        model.logits(&[9; 60]);
        (0..4).for_each(|_| drop(model.logits(&[9])));
        assert!(model.try_logits(&[9]).is_err(), "{family}");
    }
}

/// A copy of a family's folder, to damage.
fn copy(place: &Place, family: &str) -> Option<PathBuf> {
    let (from, to) = (checkpoints()?.join(family).join("model"), place.path().join(family));
    fs::create_dir(&to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap().path();
        fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
    }
    Some(to)
}

/// The error of `etbuild build` for an invalid folder.
fn refusal(place: &Place, folder: &Path, options: &str) -> String {
    let ran = place.run(&format!("build {} --target linux-x86_64 {options}", folder.display()));
    assert_ne!(ran.status, 0, "{}", ran.stdout);
    let written = fs::read_dir(place.out()).map_or(0, |entries| entries.count());
    assert_eq!(written, 0, "something was written");
    ran.stderr + &ran.stdout
}

/// Changes the text of a file.
fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} in {text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

#[test]
fn damaged_checkpoints_are_refused_with_a_code_and_without_output() {
    let place = Place::cold();
    let Some(folder) = copy(&place, "llama") else { return };
    let config = folder.join("config.json");
    let expect = |code: &str, words: &str, options: &str| {
        let said = refusal(&place, &folder, options);
        assert!(said.contains(code) && said.contains(words), "{code} {words}: {said}");
    };
    expect("ETB0308", "512", "--set export.context=513");
    edit(&config, "\"intermediate_size\": 80", "\"intermediate_size\": 81");
    expect("ETB0307", "mlp.gate_proj.weight", "");
    edit(&config, "\"intermediate_size\": 81", "\"intermediate_size\": 80");
    edit(&config, "\"num_hidden_layers\": 3", "\"num_hidden_layers\": 4");
    expect("ETB0307", "`model.layers.3.input_layernorm.weight` is missing", "");
    edit(&config, "\"num_hidden_layers\": 4", "\"num_hidden_layers\": 2");
    expect("ETB0307", "model.layers.2.", "");
    edit(&config, "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3");
    edit(&config, "LlamaForCausalLM", "RwkvForCausalLM");
    expect("ETB0305", "Qwen3ForCausalLM", "");
    edit(&config, "RwkvForCausalLM", "LlamaForCausalLM");
    let shard = folder.join("model-00002-of-00007.safetensors");
    let bytes = fs::read(&shard).unwrap();
    fs::write(&shard, &bytes[..bytes.len() - 100]).unwrap();
    expect("ETB0302", "model-00002-of-00007.safetensors", "");
    fs::remove_file(&shard).unwrap();
    expect("ETB0306", "model-00002-of-00007.safetensors", "");
    for file in fs::read_dir(&folder).unwrap() {
        let file = file.unwrap().path();
        if file.to_string_lossy().contains("safetensors") {
            fs::remove_file(file).unwrap();
        }
    }
    fs::write(folder.join("consolidated.00.pth"), b"").unwrap();
    expect("ETB0304", "Hugging Face", "");
}

/// Rewrites a checkpoint's only shard after `change`.
fn rewrite(folder: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let shard = folder.join("model.safetensors");
    let mut bytes = fs::read(&shard).unwrap();
    change(&mut bytes);
    fs::write(shard, bytes).unwrap();
}

/// The same shard with every number as `float32`.
fn widened(bytes: &[u8]) -> Vec<u8> {
    let (mut entries, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, view) in SafeTensors::parse(bytes).unwrap().tensors {
        let start = data.len();
        let halves = view.bytes.as_chunks().0.iter().map(|half| u16::from_le_bytes(*half));
        let wide = |bits| match view.scalar_type {
            et_core::ScalarType::Half => et_core::Half(bits).to_f32(),
            _ => et_core::BFloat16(bits).to_f32(),
        };
        data.extend(halves.flat_map(|bits| wide(bits).to_le_bytes()));
        let entry = serde_json::json!({"dtype": "F32", "shape": view.shape, "data_offsets": [start, data.len()]});
        entries.insert(name, entry);
    }
    let mut header = serde_json::Value::Object(entries).to_string();
    header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat()
}

#[test]
fn half_precision_weights_quantize_like_float32() {
    let place = Place::cold();
    for family in ["qwen3", "smollm"] {
        let Some(folder) = copy(&place, family) else { return };
        let logits = || {
            let mut model = Model::build(&folder, &place.cache(), 16, &["quantize.scheme=8da4w"]);
            [model.logits(&[5, 9, 100, 7]), model.logits(&[31])]
        };
        let of_halves = logits();
        rewrite(&folder, |bytes| *bytes = widened(bytes));
        assert_eq!(logits(), of_halves, "{family}");
    }
}

/// The program file of a model with these options, and the tensors that became integers on the way.
fn quantized(folder: &Path, place: &Place, quantize: &str) -> (Vec<u8>, Vec<String>) {
    let (folder, export) = (folder.display(), "{ context: 64, prefill: 16 }");
    let recipe = format!(
        "etbuild: 1\nname: quantized\nmodel: {{ checkpoint: {folder} }}\nexport: {export}\nquantize: {quantize}\n"
    );
    let recipe = place.file("quantized.yaml", recipe);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    let observer = move |event: &Event| {
        if let Event::Quantized { tensor } = event {
            notes.lock().unwrap().push(tensor.clone());
        }
    };
    let world = World::open(Arc::new(RealSystem::default()), &place.cache(), Arc::new(observer), Mode::Build, 1);
    let file = program_file(&Arc::new(world.unwrap()), &recipe, &[]).unwrap().to_vec();
    let mut seen = std::mem::take(&mut *seen.lock().unwrap());
    seen.sort();
    (file, seen)
}

#[test]
fn only_tensors_that_changed_are_quantized_again() {
    let place = Place::cold();
    let Some(folder) = copy(&place, "qwen3") else { return };
    let again = |quantize| quantized(&folder, &place, quantize).1;
    let first = again("{ scheme: 8da4w, group_size: 16 }");
    assert_eq!(first.len(), 3 * 7 + 1, "{first:?}");
    let distinct: std::collections::BTreeSet<&String> = first.iter().collect();
    assert_eq!(distinct.len(), first.len(), "both methods share what was made: {first:?}");
    assert_eq!(again("{ scheme: 8da4w, group_size: 16, observer: min-max }"), [""; 0]);
    let (layer, tensor) = ("model.layers.1.mlp.down_proj", "model.layers.1.mlp.down_proj.weight");
    let one = format!("{{ scheme: 8da4w, group_size: 16, layers: [{{ name: {layer}, scheme: int8-weights }}] }}");
    assert_eq!(again(&one), [tensor]);
    let tensor = "model.layers.0.self_attn.q_proj.weight";
    rewrite(&folder, |bytes| {
        let view = &SafeTensors::parse(bytes).unwrap().tensors[tensor];
        let place = view.bytes.as_ptr().addr() - bytes.as_ptr().addr();
        bytes[place] ^= 1;
    });
    assert_eq!(again(&one), [tensor]);
    assert_eq!(again("{ scheme: 8da4w, group_size: 8 }").len(), first.len());
}

#[test]
fn a_tied_table_is_stored_once_and_never_as_numbers() {
    let place = Place::cold();
    let Some(folder) = copy(&place, "qwen3") else { return };
    let (file, _) = quantized(&folder, &place, "{ scheme: 8da4w, group_size: 16 }");
    let (rows, length) = (211, 48);
    let blobs = support::files::tree(&place.cache().join("v1/cas")).into_values();
    let blobs: Vec<Vec<u8>> = blobs.collect();
    let of_size = |size: usize| blobs.iter().filter(|blob| blob.len() == size).collect::<Vec<_>>();
    assert_eq!(of_size(rows * length * 4).len(), 0);
    let [integers] = of_size(rows * length)[..] else { panic!("one table") };
    let found = file.windows(integers.len()).filter(|window| window == integers).count();
    assert_eq!(found, 1);
    let cache = 64 * 2 * 16 * 4;
    assert!(!file.windows(cache).any(|window| window.iter().all(|byte| *byte == 0)), "zeros of a cache are stored");
}
