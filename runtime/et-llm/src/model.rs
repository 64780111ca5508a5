//! A program with the methods `prefill` and `decode`, over one state.

use std::rc::Rc;

use et_core::ScalarType;
use et_module::safetensors::TensorView;
use et_module::{DataFiles, Engines, FileBytes, Kernels, Module};

use crate::Error;

/// The method that reads a piece of a prompt.
const PREFILL: &str = "prefill";
/// The method that reads one token.
const DECODE: &str = "decode";

/// A loaded language model, and how much of a text it has read.
pub struct Model {
    prefill: Method,
    decode: Method,
    /// The tokens of the text that it has read.
    read: Vec<u32>,
    /// How many it can.
    context: Option<usize>,
    logits: Vec<f32>,
    /// The bytes of the last logits.
    bytes: Vec<u8>,
}

/// A method with the places of its inputs.
struct Method {
    module: Module,
    tokens: usize,
    start: usize,
    last: Option<usize>,
    /// How many tokens it reads at once.
    piece: usize,
}

impl Model {
    /// Loads both methods of a program file.
    ///
    /// # Errors
    /// [`Error::NotALanguageModel`] where the methods are others; [`Error::Module`] where they cannot be loaded.
    pub fn load(
        file: &Rc<FileBytes>,
        data: impl Fn() -> Result<DataFiles, et_module::Error>,
        kernels: Kernels<'_>,
        engines: &Engines,
    ) -> Result<Self, Error> {
        let shared = || FileBytes::shared(file);
        let prefill = Module::load_method(shared(), data()?, PREFILL, kernels, engines);
        let prefill = prefill.map_err(not_a_language_model)?;
        let decode = prefill.load_beside(shared(), data()?, DECODE, kernels, engines).map_err(not_a_language_model)?;
        let (prefill, decode) = (Method::new(prefill)?, Method::new(decode)?);
        if decode.piece != 1 {
            return Err(Error::NotALanguageModel("`decode` takes several tokens".to_owned()));
        }
        let (logits, bytes) = (Vec::new(), decode.empty_logits()?);
        Ok(Self { prefill, decode, read: Vec::new(), context: None, logits, bytes })
    }

    /// Makes texts of more tokens an error before they are read.
    pub const fn limit(&mut self, context: Option<usize>) {
        self.context = context;
    }

    /// The tokens of the text that have been read.
    pub fn tokens(&self) -> &[u32] {
        &self.read
    }

    /// How many tokens a text can have, where that is known.
    pub const fn context(&self) -> Option<usize> {
        self.context
    }

    /// How many tokens are read at once.
    pub const fn piece(&self) -> usize {
        self.prefill.piece
    }

    /// How many tokens the model has.
    pub const fn vocabulary(&self) -> usize {
        self.bytes.len() / size_of::<f32>()
    }

    /// The bytes of this name in the program file.
    pub fn named_data(&self, key: &str) -> Option<&[u8]> {
        self.prefill.module.named_data(key)
    }

    /// Begins a new text. Nothing of the last one is seen again: what is read overwrites it before it is used.
    pub fn reset(&mut self) {
        self.read.clear();
    }

    /// Forgets what this text has not in common with the one that was read, and its last token, so that there is something to
    /// read; returns how many tokens of it are left. They are none where too much would have to be forgotten: a cache that goes
    /// around its end has overwritten the oldest tokens that it would need again, but for one piece.
    pub fn rewind(&mut self, text: &[u32]) -> usize {
        let same = self.read.iter().zip(text).take_while(|(one, other)| one == other).count();
        let left = same.min(text.len().saturating_sub(1));
        let possible = self.read.len() - left <= self.prefill.piece;
        self.read.truncate(if possible { left } else { 0 });
        self.read.len()
    }

    /// Reads further tokens; returns the logits of the token behind the last, one for each token that the model has.
    ///
    /// # Errors
    /// [`Error::ContextFull`] before anything is read; [`Error::NoTokens`]; what the program says, after which the text can only
    /// be begun anew.
    pub fn read(&mut self, tokens: &[u32]) -> Result<&[f32], Error> {
        let whole = self.read.len() + tokens.len();
        if let Some(context) = self.context.filter(|context| whole > *context) {
            return Err(Error::ContextFull { tokens: whole, context });
        }
        if tokens.is_empty() {
            return Err(Error::NoTokens);
        }
        let vocabulary = self.vocabulary();
        if let Some(token) = tokens.iter().find(|token| **token as usize >= vocabulary) {
            return Err(Error::UnknownToken { token: *token, vocabulary });
        }
        let mut rest = tokens;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.len().min(self.next_piece(rest.len())));
            let method = if piece.len() == 1 { &mut self.decode } else { &mut self.prefill };
            method.execute(piece, self.read.len())?;
            self.read.extend_from_slice(piece);
            rest = behind;
            if rest.is_empty() {
                method.logits(&mut self.bytes, &mut self.logits)?;
            }
        }
        Ok(&self.logits)
    }

    /// How many of so many tokens are read next: a piece that is mostly empty takes longer than its tokens one by one.
    const fn next_piece(&self, tokens: usize) -> usize {
        if tokens > self.prefill.piece / ONE_BY_ONE { self.prefill.piece } else { 1 }
    }
}

/// The part of a piece up to which its tokens are read one by one: that many times more tokens a second are read in pieces.
const ONE_BY_ONE: usize = 8;

fn not_a_language_model(error: et_module::Error) -> Error {
    match error {
        et_module::Error::MethodMissing { .. } => Error::NotALanguageModel(error.to_string()),
        error => Error::Module(error),
    }
}

impl Method {
    fn new(module: Module) -> Result<Self, Error> {
        let names = module.stored_input_names().unwrap_or_default();
        let place = |name: &str| names.iter().position(|found| found == name);
        let missing = |name: &str| Error::NotALanguageModel(format!("an input `{name}` is missing"));
        let tokens = place("tokens").ok_or_else(|| missing("tokens"))?;
        let start = place("start").ok_or_else(|| missing("start"))?;
        let last = place("last");
        let piece = match module.input_type(tokens)? {
            Some(wanted) if wanted.scalar_type == ScalarType::Long => wanted.shape.iter().product(),
            _ => return Err(Error::NotALanguageModel("`tokens` are no `int64`".to_owned())),
        };
        Ok(Self { module, tokens, start, last, piece })
    }

    /// Reads at most a piece of tokens that begin at a position.
    fn execute(&mut self, tokens: &[u32], position: usize) -> Result<(), Error> {
        let filler = (tokens.len()..self.piece).map(|_| 0);
        let tokens_and_filler: Vec<u8> =
            tokens.iter().copied().chain(filler).flat_map(|token| i64::from(token).to_le_bytes()).collect();
        self.set(self.tokens, &[1, self.piece], &tokens_and_filler)?;
        self.set(self.start, &[1], &(position as i64).to_le_bytes())?;
        if let Some(last) = self.last {
            self.set(last, &[1], &(tokens.len() as i64 - 1).to_le_bytes())?;
        }
        Ok(self.module.execute()?)
    }

    fn set(&mut self, index: usize, shape: &[usize], bytes: &[u8]) -> Result<(), Error> {
        let view = TensorView { scalar_type: ScalarType::Long, shape: shape.to_vec(), bytes };
        Ok(self.module.set_input(index, &view)?)
    }

    /// Room for the bytes of its logits.
    fn empty_logits(&self) -> Result<Vec<u8>, Error> {
        let logits = self.module.output(self.output()?)?;
        match logits.scalar_type {
            ScalarType::Float => Ok(logits.bytes),
            _ => Err(Error::NotALanguageModel("its logits are no `float32`".to_owned())),
        }
    }

    /// Copies the logits, by way of `bytes`.
    fn logits(&self, bytes: &mut [u8], logits: &mut Vec<f32>) -> Result<(), Error> {
        self.module.copy_output(self.output()?, bytes)?;
        logits.clear();
        logits.extend(bytes.as_chunks().0.iter().copied().map(f32::from_le_bytes));
        Ok(())
    }

    /// The place of the logits, behind the new values of what the model changes.
    fn output(&self) -> Result<usize, Error> {
        Ok(self.module.output_count()?.saturating_sub(1))
    }
}
