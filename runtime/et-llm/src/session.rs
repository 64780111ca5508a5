//! A language model with what its program file says about it.

use std::cell::OnceCell;
use std::rc::Rc;
use std::time::Instant;

use et_module::{DataFiles, Engine, Engines, FileBytes, Kernels};

use crate::{
    CHAT_KEY, Draft, Error, Facts, GENERATION_KEY, Guesses, Lookup, Model, Proposer, Sampling, Speculation,
    TOKENIZER_KEY, Text,
};

/// Makes a tokenizer of the named data [`TOKENIZER_KEY`] and, where the file has it, [`CHAT_KEY`].
pub type MakeText = fn(tokenizer: &[u8], chat: Option<&[u8]>) -> Result<Box<dyn Text>, Error>;

/// What a program file is loaded with.
#[derive(Clone, Copy)]
pub struct Loading<'k> {
    /// The kernels of its operators.
    pub kernels: Kernels<'k>,
    /// The engines of its delegates.
    pub engines: &'static [Engine],
    /// The most threads that they use.
    pub threads: usize,
    /// Where guesses come from, if tokens are to be guessed.
    pub guesses: Option<&'k Guesses>,
    /// What makes its tokenizer; `None` in a binary that reads tokens only.
    pub text: Option<MakeText>,
}

/// A loaded language model, its tokenizer, and how its texts end.
pub struct Session {
    /// The model.
    pub model: Model,
    /// What guesses its tokens, if anything does.
    pub speculation: Option<Speculation>,
    /// What the program file says about texts.
    pub facts: Facts,
    /// How long loading took, in milliseconds.
    pub load_ms: f64,
    /// How many threads engines use.
    pub threads: usize,
    make_text: Option<MakeText>,
    /// Made when it is first asked for: it takes longer to read than the program does.
    text: OnceCell<Rc<dyn Text>>,
}

impl Session {
    /// Loads a program file; `data` opens the data files that it refers to.
    ///
    /// # Errors
    /// As [`Model::load`], and where tokens are to be guessed, as [`Model::load_verify`] and [`Draft::load`].
    pub fn load(
        file: FileBytes,
        data: impl Fn() -> Result<DataFiles, et_module::Error>,
        loading: &Loading<'_>,
        start: Instant,
    ) -> Result<Self, Error> {
        let engines = Engines::new(loading.engines, loading.threads);
        let file = Rc::new(file);
        let mut model = Model::load(&file, &data, loading.kernels, &engines)?;
        let speculation = match loading.guesses {
            None => None,
            Some(guesses) => {
                model.load_verify(&file, data()?, loading.kernels, &engines)?;
                Some(Speculation::new(proposer(guesses, &model, loading, &engines)?))
            }
        };
        let facts = model.named_data(GENERATION_KEY).and_then(|bytes| std::str::from_utf8(bytes).ok());
        let facts = facts.map(Facts::parse).unwrap_or_default();
        model.limit(facts.context);
        let (load_ms, threads) = (start.elapsed().as_secs_f64() * 1e3, engines.threads());
        Ok(Self { model, speculation, facts, load_ms, threads, make_text: loading.text, text: OnceCell::new() })
    }

    /// The tokenizer.
    ///
    /// # Errors
    /// [`Error::NoTokenizer`]; what the tokenizer's maker says.
    pub fn text(&self) -> Result<Rc<dyn Text>, Error> {
        if let Some(text) = self.text.get() {
            return Ok(Rc::clone(text));
        }
        let make = self.make_text.ok_or(Error::NoTokenizer)?;
        let tokenizer = self.model.named_data(TOKENIZER_KEY).ok_or(Error::NoTokenizer)?;
        let text = Rc::from(make(tokenizer, self.model.named_data(CHAT_KEY))?);
        Ok(Rc::clone(self.text.get_or_init(|| text)))
    }

    /// How tokens are picked where nobody says otherwise.
    pub fn sampling(&self) -> Sampling {
        let usual = Sampling::default();
        Sampling {
            temperature: self.facts.temperature.unwrap_or(usual.temperature),
            top_k: self.facts.top_k.unwrap_or(usual.top_k),
            top_p: self.facts.top_p.unwrap_or(usual.top_p),
            seed: usual.seed,
        }
    }
}

/// What guesses the tokens of a model.
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
