//! The named data of a program file about a pipeline that makes pictures: the tokenizer, the scheduler, the settings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use et_diffusion::{DIFFUSION_KEY, METHODS, Settings};
use et_llm::TOKENIZER_KEY;
use etbuild_checkpoint::{PipelineData, read_pipeline};
use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_ir::{Graph, PlannedProgram};
use etbuild_recipe::Number;
use etbuild_store::KeyBuilder;

use crate::action::{Keyed, text_files};
use crate::input::{self, DataFile, Db, HashedFile};

/// A pipeline as a recipe states it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PipelineOptions {
    /// The folder, for messages.
    pub folder: PathBuf,
    /// The present files of the folder that are read, by name.
    pub files: BTreeMap<String, DataFile>,
    /// The scheduler in the place of the pipeline's.
    pub scheduler: Option<&'static str>,
    /// The number of steps.
    pub steps: Option<u32>,
    /// The guidance.
    pub guidance: Option<Number>,
    /// The seed.
    pub seed: Option<u64>,
}

/// A pipeline as the input of an action.
pub struct PipelineFiles {
    options: PipelineOptions,
    files: BTreeMap<String, HashedFile>,
}

impl PipelineFiles {
    /// The files of the pipeline.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn of(db: &dyn Db, options: PipelineOptions) -> Result<Self, Diagnostic> {
        let hashed = |(name, file): (&String, &DataFile)| {
            let hashed = HashedFile::of(db, *file).map_err(|error| {
                let message = format!("`{}` cannot be read: {error}", file.path(db).display());
                Diagnostic::error(Code::ModelUnreadable, message)
            })?;
            Ok((name.clone(), hashed))
        };
        let files = options.files.iter().map(hashed).collect::<Result<_, Diagnostic>>()?;
        Ok(Self { options, files })
    }

    /// The named data of the program, by key.
    ///
    /// # Errors
    /// Files that are malformed, or have changed since hashing; methods that do not fit together.
    pub fn named_data(
        &self,
        db: &dyn Db,
        program: &PlannedProgram,
    ) -> Result<BTreeMap<String, Vec<u8>>, Vec<Diagnostic>> {
        let span = || Span::file(self.options.folder.display().to_string());
        let bytes = text_files(db, &self.files)?;
        let views = bytes.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
        let read = read_pipeline(&views, self.options.scheduler);
        let PipelineData { tokenizer, mut facts } = read.map_err(|error| vec![input::checkpoint(&error).at(span())])?;
        facts.settings = self.settings(facts.settings);
        facts
            .settings
            .check(facts.schedule.train_steps)
            .map_err(|error| vec![Diagnostic::error(Code::BadValue, error.to_string())])?;
        check(program, facts.tokens)?;
        let facts = facts.to_text().into_bytes();
        Ok(BTreeMap::from([(TOKENIZER_KEY.to_owned(), tokenizer), (DIFFUSION_KEY.to_owned(), facts)]))
    }

    fn settings(&self, defaults: Settings) -> Settings {
        let PipelineOptions { steps, guidance, seed, .. } = &self.options;
        Settings {
            steps: steps.map_or(defaults.steps, |steps| steps as usize),
            guidance: guidance.map_or(defaults.guidance, Number::value),
            seed: seed.unwrap_or(defaults.seed),
        }
    }
}

impl Keyed for PipelineFiles {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { options, files } = self;
        let PipelineOptions {
            folder: _, // Errors name the folder.
            files: _,  // The digests follow.
            scheduler,
            steps,
            guidance,
            seed,
        } = options;
        let key = key
            .option("diffusion.scheduler", *scheduler)
            .option("diffusion.steps", *steps)
            .option("diffusion.guidance", guidance.map(Number::value))
            .option("diffusion.seed", *seed);
        files.iter().fold(key, |key, (name, file)| key.option("pipeline", name.as_str()).input("contents", file.digest))
    }
}

/// Refuses methods that do not fit together: the output of a method is the input of the next.
fn check(program: &PlannedProgram, tokens: usize) -> Result<(), Vec<Diagnostic>> {
    let methods = &program.program().program().methods;
    let method = |name: &str| {
        let missing = || vec![mismatch(format!("a pipeline needs the method `{name}`"))];
        methods.get(name).ok_or_else(missing)
    };
    let [encoder, unet, decoder] = METHODS.map(method);
    let (encoder, unet, decoder) = (encoder?, unet?, decoder?);
    let (read, states) = (only(encoder, METHODS[0])?, output(encoder));
    let inputs = ["sample", "timestep", "encoder_hidden_states"].map(|name| input_of(unet, name));
    let [sample, timestep, wanted_states] = inputs;
    let (sample, timestep, wanted_states) = (sample?, timestep?, wanted_states?);
    let (latents, picture) = (only(decoder, METHODS[2])?, output(decoder));
    let behind = |sizes: &[i32]| sizes.get(1..).unwrap_or_default().to_vec();
    let rows = [
        (
            behind(&read) == [tokens as i32],
            format!("`{}` reads {read:?}, and a prompt has {tokens} tokens", METHODS[0]),
        ),
        (
            behind(&states) == behind(&wanted_states),
            format!("`{}` gives {states:?}, and `encoder_hidden_states` are {wanted_states:?}", METHODS[0]),
        ),
        (
            sample.len() == 4 && matches!(sample.first(), Some(1 | 2)),
            format!("`sample` is {sample:?}, not [1 or 2, channels, height, width]"),
        ),
        (
            sample.first() == wanted_states.first(),
            format!("`sample` is {sample:?}, and `encoder_hidden_states` are {wanted_states:?}"),
        ),
        (output(unet) == sample, format!("`{}` gives {:?} for {sample:?}", METHODS[1], output(unet))),
        (timestep.iter().product::<i32>() <= 2, format!("`timestep` is {timestep:?}, not [] or [1]")),
        (
            latents.first() == Some(&1) && behind(&latents) == behind(&sample),
            format!("`{}` reads {latents:?}, and the latents of a picture are [1, ...] of {sample:?}", METHODS[2]),
        ),
        (matches!(picture[..], [1, 3, _, _]), format!("`{}` gives {picture:?}, not [1, 3, height, width]", METHODS[2])),
    ];
    let wrong: Vec<Diagnostic> =
        rows.into_iter().filter(|(is_good, _)| !is_good).map(|(_, text)| mismatch(text)).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// The sizes of the only input.
fn only(method: &Graph, name: &str) -> Result<Vec<i32>, Vec<Diagnostic>> {
    match method.inputs[..] {
        [input] => Ok(method.spec(input).sizes.clone()),
        _ => Err(vec![mismatch(format!("`{name}` has {} inputs, and not one", method.inputs.len()))]),
    }
}

/// The sizes of an input of the UNet.
fn input_of(method: &Graph, name: &str) -> Result<Vec<i32>, Vec<Diagnostic>> {
    let found = method.inputs.iter().find(|id| method.value(**id).name == name);
    let missing = || vec![mismatch(format!("`{}` has no input `{name}`", METHODS[1]))];
    found.map(|id| method.spec(*id).sizes.clone()).ok_or_else(missing)
}

/// The sizes of the first output.
fn output(method: &Graph) -> Vec<i32> {
    method.outputs.first().map(|id| method.spec(*id).sizes.clone()).unwrap_or_default()
}

fn mismatch(message: String) -> Diagnostic {
    let help = "export the networks with examples/diffusion/export.py; docs/diffusion.md has the form of the methods";
    Diagnostic::error(Code::InputsMismatch, message).help(help)
}
