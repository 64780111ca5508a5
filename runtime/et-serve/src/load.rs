//! The model of a server.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use et_llm::app::AppSpec;
use et_llm::{
    Batch, CHAT_KEY, Encoder, Error, Facts, Hearing, Loading, OpenedHearing, TOKENIZER_KEY, Task, Text, Viewer,
};
use et_module::app::Failure;
use et_module::{Adapter, DataFiles, Engines, FileBytes, Kernels, default_threads};

use crate::arguments::Options;
use crate::speech::SpeechModel;

/// A loaded model.
pub enum Model {
    /// A language model.
    Language(Box<LanguageModels>),
    /// An encoder.
    Encoder(Box<Encoder>),
    /// A model for transcripts.
    Speech(Box<SpeechModel>),
}

/// Models of the same weights, each with a KV cache of its own.
pub struct LanguageModels {
    /// The models.
    pub models: Vec<et_llm::Model>,
    /// The methods for several texts, of the models in their order.
    pub batches: Vec<Batch>,
    /// The tokenizer.
    pub text: Arc<dyn Text>,
    /// Makes prompts of texts and pictures, for a model that reads pictures.
    pub viewer: Option<Arc<dyn Viewer>>,
    /// The defaults of the program file for texts.
    pub facts: Facts,
    /// The number of tokens that the model has.
    pub vocabulary: usize,
    /// The adapters that requests choose, the usual one first; empty where there is no choice.
    pub adapters: Vec<Adapter>,
}

/// The number of texts at the same time for a program without a method for several texts.
const SLOTS: usize = 4;

/// Loads the model of a binary.
///
/// # Errors
/// A program that cannot be loaded; an encoder whose answers the protocol lacks; options of language models for an encoder.
pub fn load(spec: &AppSpec, options: &Options) -> Result<Model, Failure> {
    let (file, beside) = spec.program.open().map_err(Failure::failed)?;
    let file = Rc::new(file);
    let data = DataFiles::open(&beside.or_named(&options.data, options.adapter.as_deref())).map_err(Failure::failed)?;
    let threads = options.threads.unwrap_or_else(default_threads);
    let loading = Loading {
        kernels: Kernels::Selected(spec.kernels),
        engines: spec.engines,
        threads,
        guesses: None,
        text: spec.text,
        constrain: None,
        vision: None,
        hearing: None,
        observer: None,
    };
    let further = !options.adapters.is_empty();
    let found = Encoder::find(&file, || Ok(data.clone()), &loading).map_err(Failure::failed)?;
    if let Some(encoder) = found {
        refuse(further, UNADAPTED)?;
        return checked(encoder, options).map(|encoder| Model::Encoder(Box::new(encoder)));
    }
    let engines = Engines::new(spec.engines, threads);
    let model = language_models(spec, options, (&file, &data), &engines).map_err(Failure::failed)?;
    if matches!(model, Model::Speech(_)) {
        refuse(further, UNADAPTED)?;
        refuse(options.slots.is_some(), "--slots is for language models: recordings are heard one after the other")?;
        refuse(options.trace.is_some(), UNTRACED)?;
    }
    Ok(model)
}

/// An encoder whose answers the protocol has.
fn checked(encoder: Encoder, options: &Options) -> Result<Encoder, Failure> {
    refuse(options.slots.is_some(), "--slots is for language models: an encoder has no KV cache")?;
    refuse(options.trace.is_some(), UNTRACED)?;
    encoder.text().map_err(Failure::failed)?;
    match encoder.facts().task {
        Task::Embedding | Task::Score => Ok(encoder),
        Task::Classes | Task::Labels => Err(Failure::Failed(
            "a server has embeddings and scores of pairs, and this encoder gives labels".to_owned(),
        )),
    }
}

const UNADAPTED: &str = "--adapter NAME=FILE is for language models that continue texts";

const UNTRACED: &str = "--trace is for language models, whose requests have steps";

fn refuse(is_given: bool, problem: &str) -> Result<(), Failure> {
    if is_given { Err(Failure::Usage(problem.to_owned())) } else { Ok(()) }
}

/// The models, each with a KV cache of its own, whose weights are shared; or the one model of transcripts.
fn language_models(
    spec: &AppSpec,
    options: &Options,
    (file, usual): (&Rc<FileBytes>, &DataFiles),
    engines: &Engines,
) -> Result<Model, Error> {
    let make = spec.text.ok_or(Error::NoTokenizer)?;
    let (data, kernels) = (|| Ok(usual.clone()), Kernels::Selected(spec.kernels));
    let load = |()| et_llm::Model::load(file, data, kernels, engines);
    let mut first = load(())?;
    let opened = match spec.hearing {
        Some(Hearing { open, read }) => open(file, &data, kernels, engines, read, &first)?,
        None => None,
    };
    let tokenizer = first.named_data(TOKENIZER_KEY).ok_or(Error::NoTokenizer)?;
    let (text, facts): (Arc<dyn Text>, Facts) =
        (Arc::from(make(tokenizer, first.named_data(CHAT_KEY))?), first.facts());
    let sounds = match opened {
        Some(OpenedHearing::Transcriber(transcriber)) => {
            first.limit(facts.context);
            return Ok(Model::Speech(Box::new(SpeechModel { model: first, transcriber, text, facts })));
        }
        Some(OpenedHearing::Prompts(opened)) => Some(opened),
        None => None,
    };
    let rows = Batch::size(&first)?;
    let slots = options.slots.unwrap_or_else(|| rows.unwrap_or(SLOTS));
    let others = std::iter::repeat_with(|| load(())).take(slots.saturating_sub(1));
    let mut models: Vec<et_llm::Model> = std::iter::once(Ok(first)).chain(others).collect::<Result<_, _>>()?;
    let batch = |models: &[et_llm::Model]| Batch::load(file, data()?, kernels, engines, models);
    let batches = rows.map(|rows| models.chunks(rows.max(1)).map(batch).collect::<Result<_, _>>());
    let batches = batches.transpose()?.unwrap_or_default();
    let vocabulary = models.first().ok_or(Error::NoTokens)?.vocabulary();
    models.iter_mut().for_each(|model| model.limit(facts.context));
    let viewer = match (sounds, spec.vision) {
        (Some(sounds), _) => Some(sounds.join(file, &data, kernels, engines, &mut models)?),
        (None, Some(vision)) => vision.load(file, &data, kernels, engines, &mut models)?,
        (None, None) => None,
    };
    let adapters = match models.first_mut().filter(|_| !options.adapters.is_empty()) {
        Some(model) => adapters(model, usual, &options.adapters)?,
        None => Vec::new(),
    };
    Ok(Model::Language(Box::new(LanguageModels { models, batches, text, viewer, facts, vocabulary, adapters })))
}

/// The usual adapter of the data files, and the further ones, which all fit the model.
fn adapters(
    model: &mut et_llm::Model,
    usual: &DataFiles,
    further: &[(String, PathBuf)],
) -> Result<Vec<Adapter>, Error> {
    let mut all = vec![Adapter::of(usual.clone())];
    for (name, path) in further {
        let adapter = Adapter::open(path)?;
        model.exchange(&adapter).map_err(|error| match error {
            Error::Module(error) => Error::OtherAdapter { name: name.clone(), problem: error.to_string() },
            error => error,
        })?;
        all.push(adapter);
    }
    all.first().map_or(Ok(()), |usual| model.exchange(usual))?;
    Ok(all)
}
