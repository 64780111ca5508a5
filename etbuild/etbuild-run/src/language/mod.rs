//! Language models.
#![allow(unsafe_code, reason = "promises that the parts of a model stay together")]

mod answer;
mod options;
mod prompt;

use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use et_llm::{AnswerPieces, AnswerSpec, Continuation, Guesses, Limits, Model, Sampler, Session, Step, Text};
use et_module::{Adapter, FileBytes};

pub use answer::{Answer, Pieces, Tokens};
pub use et_llm::{
    Alternative, Call, Choice, Constraint, Content, Ended, Likelihood, NamedCall, Piece, Sampling, Tools,
};
#[cfg(feature = "media")]
pub use et_llm::{Heard, SeeHeard, Segment, SpokenTask, SpokenWord, Transcript, Wanted};
#[cfg(feature = "media")]
pub use et_module::preprocess::Media;
pub use options::Options;
pub use prompt::{Role, Turn};

use crate::{Error, Loader};

/// A language model in memory, which continues one text at a time. The KV cache keeps the common prefix of a text with the text before.
///
/// ```no_run
/// use etbuild_run::language::{LanguageModel, Options, Turn};
///
/// let mut model = LanguageModel::open("qwen3.pte")?;
/// for text in model.chat(&[Turn::user("Tell me a story.")], &Options::default())? {
///     print!("{}", text?);
/// }
/// # Ok::<(), etbuild_run::Error>(())
/// ```
pub struct LanguageModel {
    session: Session,
    current: Option<Current>,
}

// SAFETY: the counters (the file, the arena of the methods, the tokenizer) have their holders in this struct alone: no function gives
// the session out, and answers borrow the struct. Cells and pointers of methods and delegates lead to memory that the methods own. No
// data belongs to a thread.
unsafe impl Send for LanguageModel {}

/// The text that a model continues.
struct Current {
    continuation: Continuation,
    /// The tokens of the prompt ahead of those of `continuation`, a piece each, the last piece first.
    pieces: Vec<Vec<u32>>,
    sampler: Sampler,
    most: usize,
    /// The decoder; `None` where tokens are wanted.
    text: Option<Rc<dyn Text>>,
    answer: AnswerPieces,
    /// The number of the next call, which makes its id.
    next_call: u64,
    /// What the model thought so far.
    thoughts: String,
    /// The calls so far, with their ids.
    calls: Vec<(String, Call)>,
    /// The number of alternatives of each likelihood, if wanted.
    top_logprobs: Option<usize>,
    /// How probable the new tokens are.
    likelihoods: Vec<Likelihood>,
    ended: Option<Ended>,
}

/// A step of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advance {
    /// The model has read a chunk of the prompt.
    Read,
    /// A new token, and the pieces that the token makes certain; none after a prompt of tokens.
    Token(u32, Vec<Piece>),
    /// The end of the text, with the rest of the pieces.
    Ended(Vec<Piece>),
}

impl Loader {
    /// Maps the program file of a language model.
    ///
    /// # Errors
    /// A file that cannot be read or is no language model; too many threads.
    pub fn open_language_model(self, path: impl AsRef<Path>) -> Result<LanguageModel, Error> {
        let start = Instant::now();
        let guesses = self.guesses_from_text().then_some(Guesses::Lookup);
        let (loading, data) = self.language(guesses.as_ref())?;
        let file = FileBytes::open(path.as_ref())?;
        let session = Session::load(file, data, &loading, start)?;
        Ok(LanguageModel { session, current: None })
    }
}

impl LanguageModel {
    /// Maps the program file of a language model, for all physical cores.
    ///
    /// # Errors
    /// A file that cannot be read or is no language model.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Loader::new().open_language_model(path)
    }

    /// Puts an adapter in the place of the one before: a file `<name>.adapter.ptd` over the same layers with the same ranks as that of the program.
    /// Nothing is loaded again, and the next text is read from its beginning.
    ///
    /// # Errors
    /// A file that is no adapter of this program, and a program without an adapter in a data file; the adapter before stays.
    pub fn use_adapter(&mut self, path: impl AsRef<Path>) -> Result<(), Error> {
        Ok(self.session.exchange(Adapter::open(path.as_ref())?)?)
    }

    /// Writes the text that the model has read, with its KV cache, to a file: another process goes on with [`Self::restore`], and so does a
    /// binary with `--session`. Messages are the caller's to keep; pictures, sounds and what follows them are left out.
    ///
    /// # Errors
    /// A file that cannot be written; state that a device does not give out; a model for transcripts or with a text encoder.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Ok(self.session.save(path.as_ref(), &[])?)
    }

    /// Goes on behind the text in a file of [`Self::save`]: the next text or conversation that begins alike reads the rest alone.
    ///
    /// # Errors
    /// A file of another model, of other weights, or of another adapter than the one in use; a file that cannot be read.
    pub fn restore(&mut self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.current = None;
        Ok(self.session.restore(path.as_ref()).map(drop)?)
    }

    /// The tokens of a text; where `begins`, with those that begin every text.
    ///
    /// # Errors
    /// A program file without a tokenizer.
    pub fn encode(&self, text: &str, begins: bool) -> Result<Vec<u32>, Error> {
        Ok(self.session.text()?.encode(text, begins)?)
    }

    /// The text of tokens, without special tokens.
    ///
    /// # Errors
    /// A program file without a tokenizer; unknown tokens.
    pub fn decode(&self, tokens: &[u32]) -> Result<String, Error> {
        Ok(self.session.text()?.decode(tokens)?)
    }

    /// The most tokens of a text, where that is known.
    pub const fn context(&self) -> Option<usize> {
        self.session.model.context()
    }

    /// The number of tokens that the model knows.
    pub const fn vocabulary(&self) -> usize {
        self.session.model.vocabulary()
    }

    /// How tokens are picked where the options do not say otherwise.
    pub fn sampling(&self) -> Sampling {
        self.session.sampling()
    }

    /// The text that stands for a picture or a sound in a prompt, in a model that reads either.
    pub fn mark(&self) -> Option<String> {
        self.session.viewer().ok().map(|viewer| viewer.mark().to_owned())
    }

    /// The transcript of a recording; `see` hears of tokens and segments as they come, and ends the transcript by an error.
    ///
    /// # Errors
    /// A model that does not hear; a recording that cannot be read; errors of `see`.
    #[cfg(feature = "media")]
    pub fn transcribe(
        &mut self,
        recording: Media<'_>,
        wanted: &Wanted,
        see: SeeHeard<'_>,
    ) -> Result<Transcript, Error> {
        self.current = None;
        Ok(self.session.transcribe(recording, wanted, see)?)
    }

    /// Begins to continue tokens, which [`Self::advance`] goes on with; `text` decodes the answer, if text is wanted.
    fn begin(
        &mut self,
        tokens: Vec<u32>,
        text: Option<Rc<dyn Text>>,
        AnswerSpec { constraint, behind, shown, reader }: AnswerSpec,
        options: &Options,
    ) -> Result<(), Error> {
        let Self { session, current } = self;
        *current = None;
        let sampler = options.sampler(session, (behind, constraint))?;
        let tokens = session.model.open(tokens)?;
        if let Some(context) = session.model.context().filter(|context| tokens.len() > *context) {
            return Err(et_llm::Error::ContextFull { tokens: tokens.len(), context }.into());
        }
        let known = session.model.rewind(&tokens);
        let mut pieces = pieces(&session.model, tokens.get(known..).unwrap_or_default());
        let last = pieces.pop().unwrap_or_default();
        pieces.reverse();
        *current = Some(Current {
            continuation: Continuation::new(&last, session.speculation.as_mut()),
            pieces,
            sampler,
            most: options.max_new_tokens.unwrap_or(usize::MAX),
            text,
            answer: AnswerPieces::new(options.text(shown), reader),
            next_call: Call::first(tokens.len()),
            thoughts: String::new(),
            calls: Vec::new(),
            top_logprobs: options.top_logprobs,
            likelihoods: Vec::new(),
            ended: None,
        });
        Ok(())
    }

    /// Goes on with the text that was begun last: reads a chunk of the prompt, or picks a token. [`Advance::Ended`] without a text.
    ///
    /// # Errors
    /// The program fails; the answer cannot keep its form.
    pub fn advance(&mut self) -> Result<Advance, Error> {
        let Self { session, current } = self;
        let Some(current) = current.as_mut().filter(|current| current.ended.is_none()) else {
            return Ok(Advance::Ended(Vec::new()));
        };
        if let Some(piece) = current.pieces.pop() {
            return self.read(&piece);
        }
        if current.answer.is_stopped() {
            return current.end(Ended::Stopped);
        }
        let limits = Limits { tokens: current.most, stops: &session.facts.stops };
        let Current { continuation, sampler, .. } = current;
        let step = continuation.step(&mut session.model, session.speculation.as_mut(), sampler, &limits)?;
        match step {
            Step::Token(token) => current.token(token, session.model.logits()),
            Step::Ended(reason) => current.end(reason),
        }
    }

    /// Reads a chunk of the prompt; a text that lacks a piece has no continuation.
    fn read(&mut self, piece: &[u32]) -> Result<Advance, Error> {
        match self.session.model.read(piece) {
            Ok(_) => Ok(Advance::Read),
            Err(error) => {
                self.session.model.reset();
                self.current = None;
                Err(error.into())
            }
        }
    }

    /// What the model has thought in the answer that was begun last, if the options split thoughts off.
    pub fn thoughts(&self) -> &str {
        self.current.as_ref().map_or("", |current| &current.thoughts)
    }

    /// The calls of tools in the answer that was begun last, each with the id by which a later message names the call.
    pub fn calls(&self) -> &[(String, Call)] {
        self.current.as_ref().map_or(&[], |current| &current.calls)
    }

    /// How probable the new tokens of the answer that was begun last are, if the options ask for probabilities.
    pub fn likelihoods(&self) -> &[Likelihood] {
        self.current.as_ref().map_or(&[], |current| &current.likelihoods)
    }

    /// The new tokens of the text that was begun last.
    pub fn new_tokens(&self) -> &[u32] {
        self.current.as_ref().map_or(&[], |current| current.continuation.tokens())
    }

    /// Why the text that was begun last ended; `None` before.
    pub fn ended(&self) -> Option<Ended> {
        self.current.as_ref().and_then(|current| current.ended)
    }
}

impl Current {
    /// Takes a new token, by the logits of its pick.
    fn token(&mut self, token: u32, logits: &[f32]) -> Result<Advance, Error> {
        if let Some(count) = self.top_logprobs {
            self.likelihoods.push(Likelihood::of(token, count, logits, self.text.as_deref())?);
        }
        let pieces = match &self.text {
            Some(text) => self.answer.push(&**text, token)?,
            None => Vec::new(),
        };
        self.keep(&pieces);
        Ok(Advance::Token(token, pieces))
    }

    fn end(&mut self, reason: Ended) -> Result<Advance, Error> {
        self.ended = Some(reason);
        let pieces = match &self.text {
            Some(text) => self.answer.finish(&**text)?,
            None => Vec::new(),
        };
        self.keep(&pieces);
        Ok(Advance::Ended(pieces))
    }

    /// Keeps thoughts and calls.
    fn keep(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            match piece {
                Piece::Text(_) => {}
                Piece::Thoughts(text) => self.thoughts.push_str(text),
                Piece::Call(call) => {
                    self.calls.push((Call::id(self.next_call), call.clone()));
                    self.next_call += 1;
                }
            }
        }
    }
}

impl std::fmt::Debug for LanguageModel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("LanguageModel");
        shown.field("context", &self.context()).field("vocabulary", &self.vocabulary()).finish_non_exhaustive()
    }
}

/// Tokens in pieces that the model reads at once: of a text, or of a picture.
fn pieces(model: &Model, mut tokens: &[u32]) -> Vec<Vec<u32>> {
    let mut pieces = Vec::new();
    while !tokens.is_empty() {
        let (piece, rest) = tokens.split_at(model.chunk(tokens));
        pieces.push(piece.to_vec());
        tokens = rest;
    }
    pieces
}
