//! Language models from checkpoints: the logits of every family are what transformers computes, for a prompt in pieces and
//! then token by token; damaged checkpoints are refused. Needs `ETBUILD_TEST_PYTHON`, a Python with torch and transformers;
//! without it these tests say so and pass, except where `CI` is set.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use et_module::safetensors::{SafeTensors, TensorView};
use et_module::{Array, DataFiles, Engines, FileBytes, Kernels, Module};
use etbuild_engine::{Event, Mode, Observer, World, program_file};
use etbuild_recipe::Override;
use etbuild_system::RealSystem;
use support::{Place, Ran};

const FAMILIES: [&str; 9] =
    ["llama", "llama-biases", "smollm", "mistral", "qwen2", "qwen3", "phi3", "gemma2", "gemma3"];

/// The folder of all families, written once; `None` without a Python.
#[expect(clippy::print_stderr, reason = "nobody should take a skipped test for a passed one")]
fn checkpoints() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let Some(python) = std::env::var_os("ETBUILD_TEST_PYTHON") else {
            assert!(std::env::var_os("CI").is_none(), "ETBUILD_TEST_PYTHON is not set");
            eprintln!("skipped: set ETBUILD_TEST_PYTHON to a Python with torch and transformers");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/checkpoints.py");
        Ran::of(Command::new(python).arg(script).arg(folder.path())).expect(0);
        Some(folder)
    });
    folder.as_ref().map(tempfile::TempDir::path)
}

struct Nobody;

impl Observer for Nobody {
    fn observe(&self, _event: &Event) {}
}

fn kernel(name: &str, overload: &str) -> Option<et_core::Kernel> {
    let name = if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") };
    et_ops::find_kernel(&name)
}

/// Both methods of a program, which have one cache.
struct Model {
    prefill: Module,
    decode: Module,
    piece: usize,
    /// How many tokens have been given.
    length: usize,
}

impl Model {
    /// The program of a checkpoint for pieces of this length.
    fn build(folder: &Path, cache: &Path, piece: usize, more: &[&str]) -> Self {
        let world = World::open(Arc::new(RealSystem::default()), cache, Arc::new(Nobody), Mode::Build, 1).unwrap();
        let piece_option = format!("export.prefill={piece}");
        let options = more.iter().copied().chain([piece_option.as_str(), "export.context=64"]);
        let options: Vec<Override> = options.map(|text| Override::parse(text).unwrap()).collect();
        let file = program_file(&Arc::new(world), folder, &options).unwrap().to_vec();
        let bytes = || FileBytes::owned(file.clone());
        let (kernels, engines) = (Kernels::Lookup(&kernel), Engines::none());
        let prefill = Module::load_method(bytes(), DataFiles::default(), "prefill", kernels, &engines).unwrap();
        let decode = prefill.load_beside(bytes(), DataFiles::default(), "decode", kernels, &engines).unwrap();
        let named = |module: Module| {
            let names = module.stored_input_names().unwrap();
            module.with_input_names(&names.iter().map(String::as_str).collect::<Vec<_>>())
        };
        Self { prefill: named(prefill), decode: named(decode), piece, length: 0 }
    }

    /// The logits behind these tokens.
    fn logits(&mut self, tokens: &[i64]) -> Vec<f32> {
        self.try_logits(tokens).unwrap()
    }

    fn try_logits(&mut self, tokens: &[i64]) -> Result<Vec<f32>, et_module::Error> {
        let mut logits = Vec::new();
        let pieces = if tokens.len() == 1 { 1 } else { self.piece };
        for piece in tokens.chunks(pieces) {
            let (start, last) = ([self.length as i64], [piece.len() as i64 - 1]);
            let mut filled = piece.to_vec();
            filled.resize(pieces, 7);
            let module = if tokens.len() == 1 { &mut self.decode } else { &mut self.prefill };
            let arrays = [
                ("tokens", longs(&[1, pieces], &filled)),
                ("start", longs(&[1], &start)),
                ("last", longs(&[1], &last)),
            ];
            let inputs = arrays.iter().map(|(name, array)| ((*name).to_owned(), array.view())).collect();
            logits = module.run(&inputs)?["output_0"].to_floats().unwrap();
            self.length += piece.len();
        }
        Ok(logits)
    }
}

fn longs(shape: &[usize], elements: &[i64]) -> Array {
    let mut array = Array::zeros(et_core::ScalarType::Long, shape);
    array.bytes = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
    array
}

fn integers(view: &TensorView<'_>) -> Vec<i64> {
    view.bytes.chunks_exact(8).map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

fn floats(view: &TensorView<'_>) -> Vec<f32> {
    view.bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

/// The largest difference, and the largest number that is expected.
fn difference(expected: &[f32], got: &[f32]) -> f32 {
    assert_eq!(expected.len(), got.len());
    let differences = expected.iter().zip(got).map(|(expected, got)| (expected - got).abs());
    differences.fold(0.0, |most, difference| if difference > most || difference.is_nan() { difference } else { most })
}

/// The largest difference to what transformers computes, over the prompt and all steps behind it.
fn largest_difference(expected: &Path, model: &mut Model) -> f32 {
    let bytes = fs::read(expected).unwrap();
    let expected = SafeTensors::parse(&bytes).unwrap().tensors;
    let (prompt, tokens) = (integers(&expected["prompt"]), integers(&expected["tokens"]));
    let mut most = difference(&floats(&expected["prompt_logits"]), &model.logits(&prompt));
    let steps = floats(&expected["logits"]);
    for (token, expected) in tokens.iter().zip(steps.chunks_exact(steps.len() / tokens.len())) {
        most = most.max(difference(expected, &model.logits(&[*token])));
    }
    most
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
fn weights_of_a_byte_give_the_logits_of_the_numbers_that_they_stand_for() {
    let Some(folder) = checkpoints() else { return };
    let place = Place::cold();
    for family in ["llama", "qwen3"] {
        let folder = folder.join(family);
        let mut model = Model::build(&folder.join("model"), &place.cache(), 16, &["quantize.scheme=int8-weights"]);
        let difference = largest_difference(&folder.join("expected-bytes.safetensors"), &mut model);
        assert!(difference < 1e-3, "{family}: {difference}");
    }
}

#[test]
fn a_text_that_outgrows_the_context_is_refused_and_none_before() {
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

/// What `etbuild build` says of a folder, which it refuses.
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
fn damaged_checkpoints_are_refused_with_a_code_and_nothing_is_written() {
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
    edit(&config, "LlamaForCausalLM", "MambaForCausalLM");
    expect("ETB0305", "Qwen3ForCausalLM", "");
    edit(&config, "MambaForCausalLM", "LlamaForCausalLM");
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
