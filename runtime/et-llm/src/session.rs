//! A language model with the named data of the program file.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use et_module::{Adapter, DataFiles, Engine, Engines, FileBytes, Kernels, Observer};

use crate::{
    Constraint, Draft, Error, Facts, Guesses, Hearing, LazyCompiler, LazyText, Lookup, MakeCompiler, MakeText, Matcher,
    Model, OpenedHearing, Proposer, Sampling, Speculation, Text, Transcriber, Viewer, Vision,
};

/// The parts of a binary that a program file is loaded with.
#[derive(Clone, Copy)]
pub struct Loading<'k> {
    /// The kernels of the operators.
    pub kernels: Kernels<'k>,
    /// The backends of the delegates.
    pub engines: &'static [Engine],
    /// The most threads of the backends.
    pub threads: usize,
    /// The draft of speculative decoding, if requested.
    pub guesses: Option<&'k Guesses>,
    /// The function that makes the tokenizer; `None` in a binary that reads tokens only.
    pub text: Option<MakeText>,
    /// The function that makes the compiler of constraints; `None` in a binary without constrained output.
    pub constrain: Option<MakeCompiler>,
    /// The parts that read pictures; `None` in a binary without them.
    pub vision: Option<Vision>,
    /// The parts that hear; `None` in a binary without them.
    pub hearing: Option<Hearing>,
    /// Hears of the executions.
    pub observer: Option<&'k Arc<dyn Observer>>,
}

/// A loaded language model, the tokenizer, and the stop tokens.
pub struct Session {
    /// The model.
    pub model: Model,
    /// Speculative decoding, if requested.
    pub speculation: Option<Speculation>,
    /// The defaults of the program file for texts.
    pub facts: Facts,
    /// How long loading took, in milliseconds.
    pub load_ms: f64,
    /// The number of threads for backends.
    pub threads: usize,
    text: LazyText,
    compiler: LazyCompiler,
    file: Rc<FileBytes>,
    data: DataFiles,
    /// The adapter in the place of that of the data files.
    adapter: Option<Adapter>,
    viewer: Option<Arc<dyn Viewer>>,
    /// Makes transcripts, in a model for transcripts.
    pub transcriber: Option<Box<dyn Transcriber>>,
}

impl Session {
    /// Loads a program file; `data` opens the data files of the program.
    ///
    /// # Errors
    /// As [`Model::load`], and where tokens are to be guessed, as [`Model::load_verify`] and [`Draft::load`].
    pub fn load(
        file: FileBytes,
        data: impl Fn() -> Result<DataFiles, et_module::Error>,
        loading: &Loading<'_>,
        start: Instant,
    ) -> Result<Self, Error> {
        let plain = Engines::new(loading.engines, loading.threads);
        let engines = match loading.observer {
            Some(observer) => plain.clone().observed_by(Arc::clone(observer)),
            None => plain.clone(),
        };
        let file = Rc::new(file);
        let mut model = Model::load(&file, &data, loading.kernels, &engines)?;
        let speculation = match loading.guesses {
            None => None,
            Some(guesses) => {
                model.load_verify(&file, data()?, loading.kernels, &engines)?;
                // The methods of a draft have the names of the model's, and are not observed.
                Some(Speculation::new(proposer(guesses, &model, loading, &plain)?))
            }
        };
        let mut viewer = match loading.vision {
            None => None,
            Some(vision) => vision.load(&file, &data, loading.kernels, &engines, std::slice::from_mut(&mut model))?,
        };
        let mut transcriber = None;
        if let Some(Hearing { open, read }) = loading.hearing {
            match open(&file, &data, loading.kernels, &engines, read, &model)? {
                Some(OpenedHearing::Transcriber(found)) => transcriber = Some(found),
                Some(OpenedHearing::Prompts(opened)) => {
                    let models = std::slice::from_mut(&mut model);
                    viewer = Some(opened.join(&file, &data, loading.kernels, &engines, models)?);
                }
                None => {}
            }
        }
        let facts = model.facts();
        model.limit(facts.context);
        let (load_ms, threads) = (start.elapsed().as_secs_f64() * 1e3, engines.threads());
        let compiler = LazyCompiler::new(loading.constrain, &facts.stops);
        let text = LazyText::new(loading.text);
        let data = data()?;
        Ok(Self {
            model,
            speculation,
            facts,
            load_ms,
            threads,
            text,
            compiler,
            file,
            data,
            adapter: None,
            viewer,
            transcriber,
        })
    }

    /// The bytes of the program file, of the data files with weights, and of the adapter in use.
    ///
    /// # Errors
    /// A damaged data file.
    pub fn files(&self) -> Result<Vec<&[u8]>, Error> {
        let (adapters, weights) = self.data.split()?;
        let adapters = self.adapter.as_ref().map_or(adapters, |adapter| adapter.files().collect());
        Ok(std::iter::once(&*self.file)
            .map(|file| &**file)
            .chain(weights.into_iter().chain(adapters).map(|file| &**file))
            .collect())
    }

    /// Puts an adapter in the place of the one before: the next text begins anew.
    ///
    /// # Errors
    /// As [`Model::exchange`].
    pub fn exchange(&mut self, adapter: Adapter) -> Result<(), Error> {
        self.model.exchange(&adapter)?;
        self.adapter = Some(adapter);
        Ok(())
    }

    /// The tokenizer.
    ///
    /// # Errors
    /// [`Error::NoTokenizer`]; errors of the tokenizer's maker.
    pub fn text(&self) -> Result<Rc<dyn Text>, Error> {
        self.text.get(|key| self.model.named_data(key))
    }

    /// The part that makes prompts of texts and pictures or sounds.
    ///
    /// # Errors
    /// [`Error::NoVision`] for a model that reads no pictures, or in a binary without vision.
    pub fn viewer(&self) -> Result<Arc<dyn Viewer>, Error> {
        self.viewer.clone().ok_or(Error::NoVision)
    }

    /// A matcher for an answer of this form.
    ///
    /// # Errors
    /// [`Error::NoConstraints`] in a binary without constrained output; errors of [`Self::text`] and of [`crate::Compiler::compile`].
    pub fn matcher(&self, constraint: &Constraint) -> Result<Box<dyn Matcher>, Error> {
        self.compiler.matcher(constraint, || self.text()?.vocabulary())
    }

    /// How tokens are picked where nobody says otherwise.
    pub fn sampling(&self) -> Sampling {
        self.facts.sampling()
    }
}

/// The draft for a model.
fn proposer(
    guesses: &Guesses,
    model: &Model,
    loading: &Loading<'_>,
    engines: &Engines,
) -> Result<Box<dyn Proposer>, Error> {
    Ok(match guesses {
        Guesses::Lookup => Box::new(Lookup::default()),
        Guesses::Draft(path) => Box::new(Draft::load(path, model.vocabulary(), loading.kernels, engines)?),
    })
}
