//! Checkpoints in GGUF, and quantized ones: logits equal those of transformers with the numbers that the files store, for every model that
//! `gguf_models.py`, `quantized_models.py` and `torchao_models.py` list, on the portable kernels and on the CPU backend. Needs
//! `ETBUILD_TEST_PYTHON`, a Python with torch, torchao, transformers and gguf; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use etbuild_engine::{Event, ProgramFiles};
use tempfile::TempDir;

use crate::support::logits::{self, Expected, Model};
use crate::support::{self, Place};

/// The tokens of a prefill chunk.
const PIECE: usize = 16;

/// The folders of the models that a script writes, sorted.
fn models(folder: &TempDir) -> Vec<PathBuf> {
    let mut models: Vec<PathBuf> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    models.sort();
    models
}

/// Models in GGUF, written once; `None` without a Python.
fn gguf() -> Option<Vec<PathBuf>> {
    static FOLDER: OnceLock<Option<TempDir>> = OnceLock::new();
    let packages = "torch, transformers and gguf";
    let made = FOLDER.get_or_init(|| support::python::written_by("gguf_models.py", packages, &[]));
    made.as_ref().map(models)
}

/// Checkpoints in Hugging Face's layout, written once; `None` without a Python.
fn quantized() -> Option<Vec<PathBuf>> {
    static FOLDER: OnceLock<Option<TempDir>> = OnceLock::new();
    let made = FOLDER.get_or_init(|| support::python::written_by("quantized_models.py", "torch and transformers", &[]));
    made.as_ref().map(models)
}

/// Checkpoints that torchao quantized, written once; `None` without a Python.
fn torchao() -> Option<Vec<PathBuf>> {
    static FOLDER: OnceLock<Option<TempDir>> = OnceLock::new();
    let packages = "torch, torchao and transformers";
    let made = FOLDER.get_or_init(|| support::python::written_by("torchao_models.py", packages, &[]));
    made.as_ref().map(models)
}

/// The program of a model with these options, and the tensors that the recipe quantized.
fn program(folder: &Path, place: &Place, options: &[&str]) -> (ProgramFiles, Vec<String>) {
    let piece = format!("export.prefill={PIECE}");
    let options: Vec<&str> = options.iter().copied().chain(["export.context=64", &piece]).collect();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    let observer = move |event: &Event| {
        if let Event::Quantized { tensor } = event {
            notes.lock().unwrap().push(tensor.clone());
        }
    };
    let file = folder.join("model.gguf");
    let model = if file.exists() { file } else { folder.join("model") };
    let files = logits::files_with(&model, &place.cache(), &options, Arc::new(observer));
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (files, seen)
}

/// The largest difference of the logits from the expected logits, and the tensors that the recipe quantized.
fn compare(folder: &Path, place: &Place, options: &[&str]) -> (f32, Vec<String>) {
    let (files, quantized) = program(folder, place, options);
    let expected = folder.join("expected.safetensors");
    (logits::largest_difference(&expected, &mut Model::load(&files, PIECE)), quantized)
}

/// The difference that is too far: the offsets of groups are a product by themselves, whose sum with the other rounds once more.
const TOLERANCE: f32 = 5e-4;

/// The models with logits that are too far from the expected ones, on the portable kernels or on the CPU backend.
fn mistakes(models: Vec<PathBuf>) -> BTreeMap<String, f32> {
    let place = Place::cold();
    let mut wrong = BTreeMap::new();
    for model in models {
        let name = model.file_name().unwrap().to_str().unwrap().to_owned();
        for partition in ["partition=[portable]", "partition=[cpu]"] {
            let (most, _) = compare(&model, &place, &[partition, "quantize.scheme=float"]);
            if most.is_nan() || most > TOLERANCE {
                wrong.insert(format!("{name}, {partition}"), most);
            }
        }
    }
    wrong
}

#[test]
fn gguf_files_give_the_logits_of_their_stored_numbers() {
    let Some(models) = gguf() else { return };
    let wrong = mistakes(models);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn quantized_checkpoints_give_the_logits_of_their_stored_numbers() {
    let Some(models) = quantized() else { return };
    let wrong = mistakes(models);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn checkpoints_of_torchao_give_the_logits_of_their_stored_numbers() {
    let Some(models) = torchao() else { return };
    let wrong = mistakes(models);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The model of this name.
fn named(models: Vec<PathBuf>, name: &str) -> PathBuf {
    models.into_iter().find(|model| model.ends_with(name)).unwrap()
}

/// Writes bytes over the first ones of a tensor in a file of safetensors.
fn overwrite(file: &Path, tensor: &str, bytes: &[u8]) {
    let mut contents = fs::read(file).unwrap();
    let length = u64::from_le_bytes(contents[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&contents[8..8 + length]).unwrap();
    let start = 8 + length + header[tensor]["data_offsets"][0].as_u64().unwrap() as usize;
    contents[start..start + bytes.len()].copy_from_slice(bytes);
    fs::write(file, contents).unwrap();
}

#[test]
fn a_bias_that_the_model_lacks_is_an_error_unless_it_is_zero() {
    let Some(folders) = quantized() else { return };
    let (place, from) = (Place::cold(), named(folders, "llama-gptq").join("model"));
    let folder = place.path().join("biased");
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(&from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
    }
    let build = |model: &Path| place.run(&format!("build {} --target linux-x86_64", model.display()));
    assert_eq!(build(&from).stderr.matches("ETB0307").count(), 0);
    let bias = "model.layers.1.mlp.up_proj.bias";
    overwrite(&folder.join("model.safetensors"), bias, &0x3800_u16.to_le_bytes());
    let said = build(&folder).stderr;
    assert!(said.contains("ETB0307") && said.contains(bias), "{said}");
}

/// What int8 activations change in the logits of a model, from those of transformers with the stored numbers.
#[derive(Debug)]
struct Change {
    /// The cosine of the angle between both, the least over all texts.
    cosine: f32,
    /// How much greater the greatest expected logit is than that of the token which was chosen, the most over all texts.
    lost: f32,
}

/// The place of the greatest number.
fn greatest(logits: &[f32]) -> usize {
    (0..logits.len()).max_by(|left, right| logits[*left].total_cmp(&logits[*right])).unwrap()
}

fn change(folder: &Path, place: &Place, options: &[&str]) -> Change {
    let (files, quantized) = program(folder, place, options);
    assert_eq!(quantized, [""; 0], "{}", folder.display());
    let (mut model, expected) = (Model::load(&files, PIECE), Expected::read(&folder.join("expected.safetensors")));
    let mut change = Change { cosine: 1.0, lost: 0.0 };
    let mut note = |expected: &[f32], got: &[f32]| {
        let [best, chosen] = [expected, got].map(greatest);
        change.cosine = change.cosine.min(logits::cosine(expected, got));
        change.lost = change.lost.max(expected[best] - expected[chosen]);
    };
    note(&expected.prompt_logits, &model.logits(&expected.prompt));
    for (token, expected) in expected.steps() {
        note(expected, &model.logits(&[token]));
    }
    change
}

/// The models in which a rounded activation changes the choice of an expert: their routers have random weights.
const ROUTED: [&str; 4] = ["deepseek3", "gpt-oss", "qwen2moe", "qwen3moe-q5_1"];

#[test]
fn a_plain_recipe_multiplies_stored_integers_by_int8_activations() {
    let (Some(files), Some(folders), Some(more)) = (gguf(), quantized(), torchao()) else { return };
    let (place, mut wrong) = (Place::cold(), BTreeMap::new());
    for model in [files, folders, more].concat() {
        let name = model.file_name().unwrap().to_str().unwrap().to_owned();
        let change = change(&model, &place, &["partition=[cpu]"]);
        // Logits have magnitudes up to 12. Measured: 0.974 and 0.60, for random routers and random zero points, which give weights a mean
        // that trained ones do not have; 0.9999 or more in floating-point formats.
        let is_near = change.cosine > 0.97 && change.lost < 0.7;
        if !is_near && !ROUTED.contains(&name.as_str()) {
            wrong.insert(name, change);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The logits behind each token of the prompt, which are given one by one: a row has scales of its own then in any scheme.
fn stepwise(model: &Path, place: &Place, options: &[&str]) -> Vec<Vec<f32>> {
    let (files, _) = program(model, place, options);
    let expected = Expected::read(&model.join("expected.safetensors"));
    let mut loaded = Model::load(&files, PIECE);
    expected.prompt.iter().map(|token| loaded.logits(&[*token])).collect()
}

#[test]
fn the_default_is_the_scheme_stored_where_the_cpu_backend_comes_first() {
    let Some(files) = gguf() else { return };
    let place = Place::cold();
    for model in ["llama-q8_0", "llama-q4_k", "qwen3-q6_k"].map(|name| named(files.clone(), name)) {
        let of = |options: &[&str]| stepwise(&model, &place, options);
        let (program_of, on_cpu) = (|options: &[&str]| program(&model, &place, options).0.program, "partition=[cpu]");
        let [default, stored] = [&[on_cpu][..], &[on_cpu, "quantize.scheme=stored"]].map(program_of);
        assert!(default[..] == stored[..], "{}", model.display());
        assert_ne!(of(&[on_cpu]), of(&[on_cpu, "quantize.scheme=float"]), "{}", model.display());
        let portable = "partition=[portable]";
        assert_eq!(of(&[portable]), of(&[portable, "quantize.scheme=float"]), "{}", model.display());
    }
}

/// How much rounding changes the logits of all tokens: the squares of the changes over those of the logits.
fn lost(rounded: &[Vec<f32>], exact: &[Vec<f32>]) -> f32 {
    let squares = |change: bool| -> f32 {
        let pairs = rounded.iter().flatten().zip(exact.iter().flatten());
        pairs.map(|(rounded, exact)| if change { rounded - exact } else { *exact }.powi(2)).sum()
    };
    squares(true) / squares(false)
}

#[test]
fn an_outlier_costs_precision_in_its_block_alone() {
    let Some(files) = gguf() else { return };
    let (place, model) = (Place::cold(), named(files, "outliers"));
    // All matrices are stored, so both schemes round every activation: in blocks, or by rows.
    let [blocks, rows, exact] = ["stored", "dynamic-int8", "float"]
        .map(|scheme| stepwise(&model, &place, &["partition=[cpu]", &format!("quantize.scheme={scheme}")]));
    let [blocks, rows] = [blocks, rows].map(|rounded| lost(&rounded, &exact));
    assert!(0.0 < blocks && blocks < 0.6 * rows, "{blocks} {rows}");
}

#[test]
fn a_scheme_keeps_stored_integers_and_rounds_the_activations() {
    let (Some(files), Some(folders)) = (gguf(), quantized()) else { return };
    let place = Place::cold();
    let cases = [
        (named(files.clone(), "llama-q4_0"), "8da4w"),
        (named(folders.clone(), "llama-gptq"), "8da4w"),
        (named(folders, "qwen3-int8"), "dynamic-int8"),
        (named(files.clone(), "llama-q4_0"), "dynamic-int8"),
        (named(files.clone(), "llama-q8_0"), "dynamic-int8"),
        (named(files.clone(), "llama-q4_k"), "dynamic-int8"),
        (named(files.clone(), "llama-q6_k"), "dynamic-int8"),
    ];
    for (model, scheme) in cases {
        let scheme = format!("quantize.scheme={scheme}");
        for partition in ["partition=[portable]", "partition=[cpu]"] {
            let (most, quantized) = compare(&model, &place, &[partition, &scheme]);
            let again: Vec<&String> = quantized.iter().filter(|tensor| tensor.contains(".layers.")).collect();
            assert_eq!(again, [""; 0], "{}", model.display());
            assert!(most > 1e-3 && most < 2.0, "{}, {scheme}, {partition}: {most}", model.display());
        }
    }
    let (most, quantized) = compare(&named(files, "llama-q8_0"), &place, &["quantize.scheme=8da4w"]);
    assert_eq!(quantized.iter().filter(|tensor| tensor.contains(".layers.")).count(), 2 * 7, "{quantized:?}");
    assert!(most < 8.0, "{most}");
}

/// Models whose matrices have offsets, in experts and tables too, and how many times the bytes of the file a program may have on the CPU
/// backend, and on portable kernels, which have a byte for each integer. As `float32`, matrices of `Q2_K` take 12 times theirs, `IQ1_S` 20, those of
/// `Q4_K` 7, the mixtures beside `float32` attention 2.3, a tied table 4, one beside a `float32` head 1.7. A tied table that is stored twice takes 1.9.
const OFFSETS: [(&str, [f64; 2]); 13] = [
    ("awq-experts", [1.5, 1.5]),
    ("gptq-experts", [1.5, 1.5]),
    ("llama-gptq-8-zeros", [1.6, 1.6]),
    ("llama-int3", [1.6, 1.6]),
    ("llama-iq1_s", [4.5, 8.0]),
    ("mlx-experts", [1.5, 1.5]),
    ("mlx-experts-4", [1.5, 1.5]),
    ("qwen3moe", [1.6, 3.0]),
    ("qwen3moe-q2_k", [2.6, 5.5]),
    ("qwen3moe-q4_1", [1.6, 3.0]),
    ("qwen3moe-q5_1", [1.6, 3.0]),
    ("tied-mlx", [1.5, 2.5]),
    ("untied-mlx", [1.3, 1.4]),
];

#[test]
fn integers_with_offsets_stay_integers_in_programs() {
    let (Some(files), Some(folders), Some(more)) = (gguf(), quantized(), torchao()) else { return };
    let (place, all) = (Place::cold(), [files, folders, more].concat());
    for (name, most) in OFFSETS {
        let model = named(all.clone(), name);
        let file = ["model.gguf", "model/model.safetensors"].map(|file| model.join(file));
        let stored = file.iter().find_map(|file| fs::metadata(file).ok()).unwrap().len();
        for (partition, most) in ["partition=[cpu]", "partition=[portable]"].into_iter().zip(most) {
            let (files, _) = program(&model, &place, &[partition, "quantize.scheme=float"]);
            let share = files.program.len() as f64 / stored as f64;
            assert!(share < most, "{name}, {partition}: {share}");
        }
    }
}

#[test]
fn tokenizers_of_gguf_files_give_the_tokens_of_the_library_that_they_come_from() {
    let Some(models) = gguf() else { return };
    let place = Place::cold();
    let with_texts = models.into_iter().filter(|model| model.join("texts.json").exists());
    let mut count = 0;
    for model in with_texts {
        let texts = fs::read(model.join("texts.json")).unwrap();
        let texts: Vec<(String, Vec<u32>)> = serde_json::from_slice(&texts).unwrap();
        let options = ["partition=[portable]", "export.context=64", "export.prefill=16"];
        let file = model.join("model.gguf");
        let files = logits::files_with(&file, &place.cache(), &options, Arc::new(|_: &Event| {}));
        let program = logits::language_model(&files.program);
        let tokenizer = et_text::make(program.named_data(et_llm::TOKENIZER_KEY).unwrap(), None).unwrap();
        for (text, tokens) in texts {
            assert_eq!(tokenizer.encode(&text, true).unwrap(), tokens, "{}: {text:?}", model.display());
            count += 1;
        }
    }
    assert!(count > 10, "{count}");
}
