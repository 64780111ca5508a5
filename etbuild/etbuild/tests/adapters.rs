//! LoRA adapters of checkpoints: logits equal PEFT's; model and adapter have separate data files, and the model's file
//! is the same for every adapter; mismatched adapters are refused. Needs `ETBUILD_TEST_PYTHON`, a Python with torch,
//! transformers and peft; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use et_module::safetensors::SafeTensors;
use etbuild_engine::{Event, ProgramFiles};

use crate::support::logits::{Model, files, largest_difference};
use crate::support::{self, Place, Ran};

const CASES: [&str; 6] = ["llama", "qwen3", "phi3", "gemma2", "smollm", "llama-biases"];

/// The folder of all cases, written once; `None` without a Python.
fn cases() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| support::python::written_by("adapters.py", "torch, transformers and peft", &[]));
    folder.as_ref().map(tempfile::TempDir::path)
}

/// The program file and the data files of a case, with or without an adapter.
fn built(place: &Place, case: &Path, adapter: Option<&str>, more: &[&str]) -> ProgramFiles {
    built_and_seen(place, case, adapter, more).0
}

/// The same, with the log of quantization and packing.
fn built_and_seen(place: &Place, case: &Path, adapter: Option<&str>, more: &[&str]) -> (ProgramFiles, Vec<String>) {
    let adapter = adapter.map(|name| format!("adapter={}", case.join(name).display()));
    let options: Vec<&str> = more.iter().copied().chain(adapter.as_deref()).collect();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    let observer = move |event: &Event| match event {
        Event::Quantized { tensor } => notes.lock().unwrap().push(tensor.clone()),
        Event::Packed { weights } => notes.lock().unwrap().push(weights.clone()),
        _ => {}
    };
    let built = files(&case.join("model"), &place.cache(), 16, &options, Arc::new(observer));
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (built, seen)
}

/// The largest difference between the logits of program files and expected logits.
fn difference(files: &ProgramFiles, expected: &Path) -> f32 {
    largest_difference(expected, &mut Model::load(files, 16))
}

/// Demands that all differences are at most this.
#[track_caller]
fn expect_at_most(most: f32, differences: &BTreeMap<String, f32>) {
    let wrong = differences.values().any(|difference| difference.is_nan() || *difference > most);
    assert!(!wrong, "{differences:?}");
}

#[test]
fn logits_equal_peft() {
    let Some(folder) = cases() else { return };
    let place = Place::cold();
    let mut differences = BTreeMap::new();
    for case in CASES {
        for adapter in ["one", "two"] {
            let files = built(&place, &folder.join(case), Some(adapter), &[]);
            assert_eq!(files.data.len(), 0);
            let expected = folder.join(case).join(adapter).with_extension("safetensors");
            differences.insert(format!("{case} {adapter}"), difference(&files, &expected));
        }
    }
    expect_at_most(1e-4, &differences);
}

#[test]
fn logits_of_a_rotated_model_equal_peft() {
    let Some(folder) = cases() else { return };
    let place = Place::cold();
    let mut differences = BTreeMap::new();
    for case in CASES.into_iter().filter(|case| *case != "gemma2") {
        let rotated = ["quantize.scheme=float", "quantize.rotate=hadamard"];
        let files = built(&place, &folder.join(case), Some("one"), &rotated);
        differences.insert(case.to_owned(), difference(&files, &folder.join(case).join("one.safetensors")));
    }
    expect_at_most(1e-4, &differences);
}

/// Builds with external weights, on portable kernels and on the cpu backend.
const EXTERNAL: [&[&str]; 4] = [
    &["export.weights=external", "partition=[portable]"],
    &["export.weights=external", "partition=[cpu]"],
    &["export.weights=external", "quantize.scheme=8da4w", "quantize.group_size=16", "partition=[portable]"],
    &["export.weights=external", "quantize.scheme=8da4w", "quantize.group_size=16", "partition=[cpu]"],
];

#[test]
fn the_file_of_the_model_is_the_same_for_every_adapter_and_the_program_for_adapters_of_one_shape() {
    let Some(folder) = cases() else { return };
    for case in CASES {
        for options in EXTERNAL {
            let (place, folder) = (Place::cold(), folder.join(case));
            let plain = built(&place, &folder, None, options);
            let adapted = ["one", "two", "none"].map(|adapter| built(&place, &folder, Some(adapter), options));
            let what = format!("{case} {options:?}");
            assert_eq!(plain.data.len(), 1, "{what}");
            for (index, files) in adapted.iter().enumerate() {
                assert!(*files.data[0] == *plain.data[0], "{what}: another file of the model");
                assert!(*files.program == *adapted[0].program, "{what}: another program");
                let same = index == 0 || *files.data[1] == *adapted[0].data[1];
                assert!(files.data.len() == 2 && same == (index == 0), "{what}: the same adapter");
            }
        }
    }
}

#[test]
fn one_program_computes_with_either_adapter() {
    let Some(folder) = cases() else { return };
    let mut differences = BTreeMap::new();
    for case in CASES {
        for options in &EXTERNAL[..2] {
            let (place, folder) = (Place::cold(), folder.join(case));
            let [one, two] = ["one", "two"].map(|adapter| built(&place, &folder, Some(adapter), options));
            let exchanged = ProgramFiles { data: vec![one.data[0].clone(), two.data[1].clone()], program: one.program };
            let difference = difference(&exchanged, &folder.join("two.safetensors"));
            differences.insert(format!("{case} {options:?}"), difference);
        }
    }
    expect_at_most(1e-4, &differences);
}

#[test]
fn quantized_weights_with_an_adapter_equal_a_simulation() {
    let Some(folder) = cases() else { return };
    let (place, folder) = (Place::cold(), folder.join("llama-biases"));
    let mut differences = BTreeMap::new();
    let schemes = [("int4-weights", "grouped"), ("8da4w", "rounded")];
    for (scheme, expected) in schemes {
        for engine in ["partition=[portable]", "partition=[cpu]"] {
            let scheme = format!("quantize.scheme={scheme}");
            let options = ["quantize.group_size=16", "export.cache=float32", &scheme];
            let options: Vec<&str> = options.into_iter().chain([engine]).collect();
            let files = built(&place, &folder, Some("one"), &options);
            let expected = folder.join(expected).with_extension("safetensors");
            differences.insert(format!("{options:?}"), difference(&files, &expected));
        }
    }
    expect_at_most(1e-3, &differences);
}

#[test]
fn another_adapter_reuses_the_packed_model() {
    let Some(folder) = cases() else { return };
    let (place, folder) = (Place::cold(), folder.join("qwen3"));
    let seen = |adapter| built_and_seen(&place, &folder, adapter, EXTERNAL[3]).1;
    let first: BTreeSet<String> = seen(None).into_iter().collect();
    assert!(first.iter().any(|weights| weights == "model.layers.1.mlp.up_proj.weight"), "{first:?}");
    assert!(first.iter().any(|weights| weights.starts_with("x86_64 ")), "{first:?}");
    for adapter in ["one", "two"] {
        let more = seen(Some(adapter));
        // 3 layers of 7 matrices, each with two matrices of the adapter, packed once for the architecture.
        assert!(!more.is_empty() && more.len().is_multiple_of(3 * 7 * 2), "{more:?}");
        let again: Vec<&String> = more.iter().filter(|weights| !weights.contains("adapter:")).collect();
        assert!(again.is_empty(), "{again:?}");
    }
    assert_eq!(seen(Some("one")), [""; 0]);
}

#[test]
fn files_that_do_not_fit_are_refused_by_the_name_of_a_tensor() {
    let Some(folder) = cases() else { return };
    let (place, options) = (Place::cold(), EXTERNAL[1]);
    let one = built(&place, &folder.join("llama"), Some("one"), options);
    let other = built(&place, &folder.join("smollm"), Some("one"), options);
    let refused = |data: &[&[u8]]| match Model::try_load(&one.program, data, 16) {
        Ok(_) => panic!("it fits"),
        Err(error) => error.to_string(),
    };
    let said = refused(&[&one.data[0]]);
    assert!(said.contains("adapter:model.layers.0.self_attn") && said.contains("adapter does"), "{said}");
    let said = refused(&[&one.data[0], &other.data[1]]);
    assert!(said.contains("adapter:model.layers."), "{said}");
    let said = refused(&[&other.data[0], &one.data[1]]);
    assert!(said.contains("no data file has it") || said.contains("the program wants"), "{said}");
    refused(&[&one.data[0], &one.data[1][..one.data[1].len() - 64]]);
}

/// A copy of an adapter, to damage.
fn copy(place: &Place, case: &str) -> Option<(PathBuf, PathBuf)> {
    let (case, to) = (cases()?.join(case), place.path().join("adapter"));
    fs::create_dir(&to).unwrap();
    for name in ["adapter_config.json", "adapter_model.safetensors"] {
        fs::copy(case.join("one").join(name), to.join(name)).unwrap();
    }
    Some((case.join("model"), to))
}

/// Asserts that a build fails with these words and writes nothing.
#[track_caller]
fn expect_refusal(place: &Place, (model, adapter): &(PathBuf, PathBuf), words: &[&str]) {
    let [model, adapter] = [model, adapter].map(|path| path.display());
    let ran = place.run(&format!("build {model} --target linux-x86_64 --set adapter={adapter}"));
    assert_ne!(ran.status, 0, "{words:?}: {}", ran.stdout);
    assert!(words.iter().all(|word| ran.stderr.contains(word)), "{words:?}: {}", ran.stderr);
    assert_eq!(fs::read_dir(place.out()).map_or(0, |entries| entries.count()), 0, "{words:?}: something was written");
}

#[test]
fn unsupported_adapters_are_refused_without_output() {
    let place = Place::cold();
    let Some(folders) = copy(&place, "llama") else { return };
    let config = folders.1.join("adapter_config.json");
    let text = fs::read_to_string(&config).unwrap();
    let expect = |from: &str, to: &str, words: &[&str]| {
        assert!(text.contains(from), "{from} in {text}");
        fs::write(&config, text.replace(from, to)).unwrap();
        expect_refusal(&place, &folders, words);
    };
    expect("\"use_dora\": false", "\"use_dora\": true", &["ETB0304", "`use_dora`", "merge_and_unload"]);
    expect("\"bias\": \"none\"", "\"bias\": \"all\"", &["ETB0304", "`bias` is `all`"]);
    expect("\"modules_to_save\": null", "\"modules_to_save\": [\"lm_head\"]", &["ETB0304", "`modules_to_save`"]);
    expect("\"LORA\"", "\"IA3\"", &["ETB0304", "`IA3`", "`LORA`"]);
    expect("\"r\": 4", "\"r\": 5", &["ETB0307", "q_proj.lora_A.weight", "[4, 48]", "[5, 48]"]);
    expect("\"q_proj\"", "\"w1\"", &["ETB0307", "`target_modules`", "q_proj.lora_A.weight"]);
    expect("\"v_proj\"", "\"k_proj\"", &["ETB0307", "k_proj.lora_A.weight", "missing"]);
    expect("\"peft_type\"", "\"peft", &["ETB0302", "adapter_config.json"]);
}

#[test]
fn damaged_adapters_are_refused_without_output() {
    let place = Place::cold();
    let Some(folders) = copy(&place, "llama") else { return };
    let shard = folders.1.join("adapter_model.safetensors");
    let bytes = fs::read(&shard).unwrap();
    fs::write(&shard, &bytes[..bytes.len() - 10]).unwrap();
    expect_refusal(&place, &folders, &["ETB0302", "adapter_model.safetensors", "malformed"]);
    // A name of the same length: a tensor is missing, and a tensor has no layer.
    let name = b"layers.1.self_attn.q_proj.lora_B";
    let place_of_name = bytes.windows(name.len()).position(|window| window == name).unwrap();
    let mut renamed = bytes.clone();
    renamed[place_of_name + 7] = b'7';
    fs::write(&shard, &renamed).unwrap();
    expect_refusal(&place, &folders, &["ETB0307", "layers.1.self_attn.q_proj.lora_B.weight` is missing"]);
    fs::rename(&shard, folders.1.join("adapter_model.bin")).unwrap();
    expect_refusal(&place, &folders, &["ETB0302", "adapter_model.bin", "no zip container", "git lfs pull"]);
    // How files before version 1.6 begin.
    fs::write(folders.1.join("adapter_model.bin"), b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.").unwrap();
    expect_refusal(&place, &folders, &["ETB0304", "adapter_model.bin", "earlier version", "save_file"]);
    fs::remove_file(folders.1.join("adapter_config.json")).unwrap();
    expect_refusal(&place, &folders, &["ETB0302", "adapter_config.json"]);
}

#[test]
fn an_adapter_that_torch_saved_is_the_same_adapter() {
    let place = Place::cold();
    let Some((model, adapter)) = copy(&place, "llama-biases") else { return };
    let Some(python) = support::python::with("torch and safetensors") else { return };
    let script = "import os, sys, torch, safetensors.torch\nold, new = sys.argv[1:]\n\
                  torch.save(safetensors.torch.load_file(old), new)\nos.remove(old)";
    let [old, new] = ["safetensors", "bin"].map(|ending| adapter.join("adapter_model").with_extension(ending));
    Ran::of(Command::new(python).args(["-c", script]).args([old, new])).expect(0);
    let option = format!("adapter={}", adapter.display());
    let files = files(&model, &place.cache(), 16, &[&option], Arc::new(|_: &Event| {}));
    let expected = model.parent().unwrap().join("one.safetensors");
    expect_at_most(1e-4, &BTreeMap::from([("llama-biases".to_owned(), difference(&files, &expected))]));
}

#[test]
fn an_adapter_requires_the_data_file_of_its_model() {
    let place = Place::cold();
    let Some(folders) = copy(&place, "llama-biases") else { return };
    let shard = folders.1.join("adapter_model.safetensors");
    let mut bytes = fs::read(&shard).unwrap();
    let own = &SafeTensors::parse(&bytes).unwrap().tensors["base_model.model.lm_head.base_layer.weight"];
    let start = own.bytes.as_ptr().addr() - bytes.as_ptr().addr();
    bytes[start + 1] ^= 1;
    fs::write(&shard, &bytes).unwrap();
    expect_refusal(&place, &folders, &["ETB0307", "lm_head.base_layer.weight"]);
}

/// Writes an adapter over the tiny model's queries and gates, whose numbers begin with `seed`.
pub fn write_tiny_adapter(folder: &Path, seed: u32) {
    let (mut entries, mut data, mut state) = (serde_json::Map::new(), Vec::<u8>::new(), seed);
    for layer in 0..4 {
        for (module, rows) in [("self_attn.q_proj", 128), ("mlp.gate_proj", 320)] {
            for (matrix, shape) in [("lora_A", [2, 128]), ("lora_B", [rows, 2])] {
                let start = data.len();
                for _ in 0..shape[0] * shape[1] {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    data.extend(((state >> 8) as f32 / 16_777_216.0 - 0.5).to_le_bytes());
                }
                let name = format!("base_model.model.model.layers.{layer}.{module}.{matrix}.weight");
                let entry = serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]});
                entries.insert(name, entry);
            }
        }
    }
    let mut header = serde_json::Value::Object(entries).to_string();
    header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
    fs::create_dir_all(folder).unwrap();
    let shard = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat();
    fs::write(folder.join("adapter_model.safetensors"), shard).unwrap();
    let config = r#"{"peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": ["q_proj", "gate_proj"]}"#;
    fs::write(folder.join("adapter_config.json"), config).unwrap();
}

#[test]
fn a_binary_loads_another_adapter_and_reports_a_missing_adapter() {
    let place = Place::cold_with_compiled_crates();
    let build = |adapter: &str| {
        let model = support::repository().join("examples/tiny-llama/model");
        let text = format!(
            "etbuild: 1\nname: {adapter}\nmodel: {{ checkpoint: {} }}\nadapter: {adapter}-adapter\npartition: [cpu]\n\
             export: {{ context: 512, prefill: 64, weights: external }}\nquantize: {{ scheme: 8da4w }}\n\
             targets: [linux-x86_64]\n",
            model.display()
        );
        let recipe = place.file(&format!("{adapter}.yaml"), text);
        place.run(&format!("build {}", recipe.display())).expect(0);
        place.out().join(adapter).join("linux-x86_64")
    };
    let folders = [("one", 1), ("two", 2)].map(|(name, seed)| {
        write_tiny_adapter(&place.path().join(format!("{name}-adapter")), seed);
        build(name)
    });
    let file = |index: usize, ending: &str| folders[index].join(["one", "two"][index]).with_extension(ending);
    assert_eq!(fs::read(file(0, "ptd")).unwrap(), fs::read(file(1, "ptd")).unwrap());
    assert_eq!(fs::read(file(0, "pte")).unwrap(), fs::read(file(1, "pte")).unwrap());
    let run = |index: usize, more: &[&str]| {
        let prompt = ["--prompt", "Once there was", "--max-new-tokens", "24", "--temperature", "0"];
        Ran::of(Command::new(file(index, "")).args(prompt).args(more))
    };
    let told = [0, 1].map(|index| run(index, &[]).expect(0).stdout);
    assert_ne!(told[0], told[1]);
    let other = file(1, "adapter.ptd");
    assert_eq!(run(0, &["--adapter", other.to_str().unwrap()]).expect(0).stdout, told[1]);
    fs::remove_file(file(0, "adapter.ptd")).unwrap();
    let said = run(0, &[]).expect(8).stderr;
    assert!(said.contains("adapter:model.layers.0") && said.contains("adapter does"), "{said}");
    let model = file(1, "ptd");
    let said = run(0, &["--adapter", model.to_str().unwrap()]).expect(8).stderr;
    assert!(said.contains("already"), "{said}");
}
