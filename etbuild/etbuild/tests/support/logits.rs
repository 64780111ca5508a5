//! Runs language models in tests, and compares logits with Python's logits.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use et_llm::Loading;
use et_module::TensorView;
use et_module::safetensors::SafeTensors;
use et_module::{Array, DataFiles, Engine, Engines, FileBytes, Kernels, Module};
use etbuild_engine::{Event, Mode, ProgramFiles, World, program_files};
use etbuild_recipe::Override;
use etbuild_store::Observer;
use etbuild_system::RealSystem;

use super::Place;

/// The backends for recipes in these tests.
pub static BACKENDS: &[&dyn etbuild_backend::Backend] = &[
    &etbuild_cpu::BACKEND,
    #[cfg(feature = "gpu")]
    &etbuild_gpu::BACKEND,
];

/// The delegates of this process.
pub static ENGINES: &[Engine] = &[
    Engine { id: et_cpu::ID, make: |host| Box::new(et_cpu::delegate(host.workers)), problem: || None },
    #[cfg(feature = "gpu")]
    Engine { id: et_gpu::ID, make: |host| Box::new(et_gpu::delegate(host.workers)), problem: et_gpu::problem },
];

/// The kernel of an operator.
pub fn kernel(name: &str, overload: &str) -> Option<et_core::Kernel> {
    let name = if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") };
    et_ops::find_kernel(&name)
}

/// The parts of this process that language models and encoders are loaded with.
pub fn loading() -> Loading<'static> {
    Loading {
        kernels: Kernels::Lookup(&kernel),
        engines: ENGINES,
        threads: 2,
        guesses: None,
        text: Some(et_text::make),
        constrain: None,
        vision: None,
        hearing: None,
        observer: None,
    }
}

/// Demands that no model has a mistake, on the portable kernels and on the CPU backend: `mistake` gets the folder of a model, a place and
/// the option with the partition.
#[track_caller]
pub fn expect_no_mistake(models: Vec<PathBuf>, mistake: impl Fn(&Path, &Place, &str) -> Option<String>) {
    let place = Place::cold();
    let mut wrong = BTreeMap::new();
    for model in models {
        let name = model.file_name().unwrap().to_str().unwrap().to_owned();
        for partition in ["partition=[portable]", "partition=[cpu]"] {
            if let Some(mistake) = mistake(&model, &place, partition) {
                wrong.insert(format!("{name}, {partition}"), mistake);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The program file and data files of a checkpoint or recipe, with these options.
pub fn files(
    model: &Path,
    cache: &Path,
    piece: usize,
    more: &[&str],
    observer: Arc<dyn Observer<Event>>,
) -> ProgramFiles {
    let piece = format!("export.prefill={piece}");
    let options: Vec<&str> = more.iter().copied().chain([piece.as_str(), "export.context=64"]).collect();
    files_with(model, cache, &options, observer)
}

/// The program file of a checkpoint, or of a recipe, with exactly these options, and its data files.
pub fn files_with(model: &Path, cache: &Path, options: &[&str], observer: Arc<dyn Observer<Event>>) -> ProgramFiles {
    let world = World::open(Arc::new(RealSystem::default()), cache, observer, Mode::Build, 1).unwrap();
    let world = world.backends(BACKENDS);
    let options: Vec<Override> = options.iter().map(|text| Override::parse(text).unwrap()).collect();
    program_files(&Arc::new(world), model, &options).unwrap()
}

/// The language model of a program file.
pub fn language_model(program: &[u8]) -> et_llm::Model {
    let (kernels, engines) = (Kernels::Lookup(&kernel), Engines::new(ENGINES, 1));
    let file = Rc::new(FileBytes::copied(program));
    et_llm::Model::load(&file, || Ok(DataFiles::default()), kernels, &engines).unwrap()
}

/// Both methods of a program, which have one cache.
pub struct Model {
    prefill: Module,
    decode: Module,
    piece: usize,
    /// How many tokens have been given.
    length: usize,
}

impl Model {
    /// The program of a checkpoint, or of a recipe, for pieces of this length.
    pub fn build(model: &Path, cache: &Path, piece: usize, more: &[&str]) -> Self {
        Self::load(&files(model, cache, piece, more, Arc::new(|_: &Event| {})), piece)
    }

    /// The methods of a program file for pieces of this length.
    pub fn load(files: &ProgramFiles, piece: usize) -> Self {
        Self::try_load(&files.program, &files.data.iter().map(|file| &**file).collect::<Vec<_>>(), piece).unwrap()
    }

    /// The same of files that may not fit.
    pub fn try_load(program: &[u8], data: &[&[u8]], piece: usize) -> Result<Self, et_module::Error> {
        // Delegates need aligned blobs, as in mapped files.
        let folder = tempfile::tempdir().unwrap();
        let written = |name: String, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            path
        };
        let program = written("program".to_owned(), program);
        let data: Vec<PathBuf> = (0..).zip(data).map(|(index, file)| written(format!("data {index}"), file)).collect();
        let bytes = || FileBytes::open(&program).unwrap();
        let data = || DataFiles::open(&data);
        let (kernels, engines) = (Kernels::Lookup(&kernel), Engines::new(ENGINES, 1));
        let prefill = Module::load_method(bytes(), data()?, "prefill", kernels, &engines)?;
        let decode = prefill.load_beside(bytes(), data()?, "decode", kernels, &engines)?;
        let named = |module: Module| {
            let names = module.stored_input_names().unwrap();
            module.with_input_names(&names.iter().map(String::as_str).collect::<Vec<_>>())
        };
        Ok(Self { prefill: named(prefill), decode: named(decode), piece, length: 0 })
    }

    /// The logits behind these tokens.
    pub fn logits(&mut self, tokens: &[i64]) -> Vec<f32> {
        self.try_logits(tokens).unwrap()
    }

    /// The same, which may be refused.
    pub fn try_logits(&mut self, tokens: &[i64]) -> Result<Vec<f32>, et_module::Error> {
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
pub fn difference(expected: &[f32], got: &[f32]) -> f32 {
    assert_eq!(expected.len(), got.len());
    let differences = expected.iter().zip(got).map(|(expected, got)| (expected - got).abs());
    differences.fold(0.0, |most, difference| if difference > most || difference.is_nan() { difference } else { most })
}

/// The cosine of the angle between rows of logits.
pub fn cosine(left: &[f32], right: &[f32]) -> f32 {
    let product = |left: &[f32], right: &[f32]| left.iter().zip(right).map(|(one, other)| one * other).sum::<f32>();
    product(left, right) / (product(left, left) * product(right, right)).sqrt()
}

/// What transformers computes: the logits behind a prompt, and behind each of the tokens that follow.
pub struct Expected {
    /// The prompt.
    pub prompt: Vec<i64>,
    /// The logits behind the prompt.
    pub prompt_logits: Vec<f32>,
    tokens: Vec<i64>,
    logits: Vec<f32>,
}

impl Expected {
    /// Reads the tensors of a file.
    pub fn read(file: &Path) -> Self {
        let bytes = fs::read(file).unwrap();
        let tensors = SafeTensors::parse(&bytes).unwrap().tensors;
        Self {
            prompt: integers(&tensors["prompt"]),
            prompt_logits: floats(&tensors["prompt_logits"]),
            tokens: integers(&tensors["tokens"]),
            logits: floats(&tensors["logits"]),
        }
    }

    /// The tokens behind the prompt, each with the logits behind the token.
    pub fn steps(&self) -> impl Iterator<Item = (i64, &[f32])> {
        self.tokens.iter().copied().zip(self.logits.chunks_exact(self.logits.len() / self.tokens.len()))
    }
}

/// The largest difference from the logits of transformers, over the prompt and all decode steps.
pub fn largest_difference(expected: &Path, model: &mut Model) -> f32 {
    let expected = Expected::read(expected);
    let mut most = difference(&expected.prompt_logits, &model.logits(&expected.prompt));
    for (token, expected) in expected.steps() {
        most = most.max(difference(expected, &model.logits(&[token])));
    }
    most
}
