//! A program with the methods `prefill`, `decode` and perhaps `verify`, over a shared state.

use std::rc::Rc;
use std::sync::Arc;

use et_module::{DataFiles, Engines, FileBytes, Kernels, Module, State};

use crate::ahead::Ahead;
use crate::chunks::next_chunk;
use crate::method::{Method, read_logits};
use crate::source::{SourceMethod, TEXT_ENCODER};
use crate::vision::{ImageMethod, KnownTiles};
use crate::{Error, Facts, SharedEncoder, Tile, is_image};

/// The method that reads the longest chunk of a prompt. The methods for shorter chunks add `_` and the number of tokens.
const PREFILL: &str = "prefill";
/// The method that reads one token.
const DECODE: &str = "decode";
/// The method that reads a few tokens, and gives the logits behind each.
const VERIFY: &str = "verify";

/// A loaded language model, and the tokens that the model has read.
pub struct Model {
    prefill: Method,
    /// The methods for shorter chunks of a prompt, in ascending order of [`Method::piece`].
    shorter: Vec<Method>,
    /// The numbers of tokens of all chunks of a prompt, in ascending order.
    lengths: Vec<usize>,
    decode: Method,
    verify: Option<Method>,
    /// The method that reads pictures, in a model with a vision encoder.
    image: Option<ImageMethod>,
    /// The method that reads prompts, in a model with a text encoder.
    source: Option<SourceMethod>,
    /// The tokens of the text that the model has read.
    read: Vec<u32>,
    /// The tiles among the tokens.
    tiles: KnownTiles,
    /// Draft tokens that the model has verified after the text.
    ahead: Ahead,
    /// How many positions of this text were ever written.
    written: usize,
    /// How many positions every KV cache has.
    slots: usize,
    /// Whether there is state that is no KV cache, such as that of a state space: it is behind the last token that was read, and nowhere else.
    is_recurrent: bool,
    /// The context in tokens.
    context: Option<usize>,
    /// How many tokens the model has.
    vocabulary: usize,
    logits: Vec<f32>,
    /// The bytes of the last logits.
    bytes: Vec<u8>,
}

impl Model {
    /// Loads the methods of a program file but `verify`.
    ///
    /// # Errors
    /// [`Error::NotALanguageModel`] for other methods; [`Error::Module`] for methods that cannot be loaded.
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
        let mut shorter = Vec::new();
        for name in prefill.method_names()?.iter().filter(|name| is_shorter_prefill(name)) {
            shorter.push(Method::new(prefill.load_beside(shared(), data()?, name, kernels, engines)?)?);
        }
        let (prefill, decode) = (Method::new(prefill)?, Method::new(decode)?);
        shorter.retain(|method| method.piece < prefill.piece);
        shorter.sort_by_key(|method| method.piece);
        let lengths = shorter.iter().map(|method| method.piece).chain([prefill.piece]).collect();
        if decode.piece != 1 {
            return Err(Error::NotALanguageModel("`decode` takes several tokens".to_owned()));
        }
        let (logits, bytes) = (Vec::new(), decode.empty_logits()?);
        let (read, tiles, ahead) = (Vec::new(), KnownTiles::default(), Ahead::default());
        let (written, (slots, is_recurrent)) = (0, slots(&decode.module)?);
        let (verify, image, source, context) = (None, None, None, None);
        let mut model = Self {
            prefill,
            shorter,
            lengths,
            decode,
            verify,
            image,
            source,
            read,
            tiles,
            ahead,
            written,
            slots,
            is_recurrent,
            context,
            vocabulary: bytes.len() / size_of::<f32>(),
            logits,
            bytes,
        };
        if model.method_names()?.iter().any(|name| name == TEXT_ENCODER) {
            let method = model.load_beside(file, data()?, TEXT_ENCODER, kernels, engines)?;
            model.source = Some(SourceMethod::new(method, &model.facts())?);
        }
        Ok(model)
    }

    /// The facts in the program file.
    pub fn facts(&self) -> Facts {
        Facts::of(&self.prefill.module)
    }

    /// Whether a text encoder reads prompts.
    pub const fn has_text_encoder(&self) -> bool {
        self.source.is_some()
    }

    /// The text that continues a prompt: the prompt itself, or in a model with a text encoder, which reads the prompt, the first token of
    /// the decoder's text.
    ///
    /// # Errors
    /// [`Error::NoTokens`]; [`Error::ContextFull`] and [`Error::UnknownToken`] for the text encoder; errors of the program.
    pub fn open(&mut self, prompt: Vec<u32>) -> Result<Vec<u32>, Error> {
        let vocabulary = self.vocabulary();
        let Some(source) = &mut self.source else { return Ok(prompt) };
        let begin = source.read(&prompt, vocabulary)?;
        self.reset();
        Ok(begin)
    }

    /// Loads the method that [`Self::read_ahead`] needs, from the same file.
    ///
    /// # Errors
    /// [`Error::NoVerify`] for a program without the method; [`Error::Module`] for a method that cannot be loaded.
    pub fn load_verify(
        &mut self,
        file: &Rc<FileBytes>,
        data: DataFiles,
        kernels: Kernels<'_>,
        engines: &Engines,
    ) -> Result<(), Error> {
        let verify = self.prefill.module.load_beside(FileBytes::shared(file), data, VERIFY, kernels, engines);
        let verify = verify.map_err(|error| match error {
            et_module::Error::MethodMissing { .. } => Error::NoVerify,
            error => Error::Module(error),
        });
        self.verify = Some(Method::new(verify?)?);
        Ok(())
    }

    /// Loads a further method from the same file, which shares the state of the model.
    ///
    /// # Errors
    /// A method that cannot be loaded.
    pub fn load_beside(
        &self,
        file: &Rc<FileBytes>,
        data: DataFiles,
        name: &str,
        kernels: Kernels<'_>,
        engines: &Engines,
    ) -> Result<Module, et_module::Error> {
        self.prefill.module.load_beside(FileBytes::shared(file), data, name, kernels, engines)
    }

    /// Loads the method that reads pictures or sounds, from the same file.
    ///
    /// # Errors
    /// [`Error::NotALanguageModel`] for a program without the method; [`Error::Module`] for a method that cannot be loaded.
    pub fn load_image(
        &mut self,
        file: &Rc<FileBytes>,
        data: DataFiles,
        kernels: Kernels<'_>,
        engines: &Engines,
        (name, encoder): (&str, SharedEncoder),
    ) -> Result<(), Error> {
        let method = self.load_beside(file, data, name, kernels, engines);
        self.image = Some(ImageMethod::new(method.map_err(not_a_language_model)?, encoder)?);
        Ok(())
    }

    /// Makes these tiles those of the image tokens of the next text.
    pub fn show(&mut self, tiles: &[Arc<Tile>]) {
        if let Some(image) = &mut self.image {
            image.show(tiles);
        }
    }

    /// The number of tokens at the beginning of `tokens` that [`Self::read`] reads in one call of the program at most: a whole tile, or
    /// tokens ahead of the next picture.
    pub fn chunk(&self, tokens: &[u32]) -> usize {
        let length = match (&self.image, tokens.first()) {
            (Some(image), Some(token)) if is_image(*token) => image.length(tokens),
            _ => text_of(tokens).len().min(self.prefill.piece),
        };
        length.max(1).min(tokens.len())
    }

    /// Makes texts of more tokens an error before the model reads a token.
    pub const fn limit(&mut self, context: Option<usize>) {
        self.context = context;
    }

    /// The tokens of the text that have been read.
    pub fn tokens(&self) -> &[u32] {
        &self.read
    }

    /// The logits behind the last token that was read; empty before.
    pub fn logits(&self) -> &[f32] {
        &self.logits
    }

    /// How many tokens a text can have, where that is known.
    pub const fn context(&self) -> Option<usize> {
        self.context
    }

    /// The most tokens that are read at once.
    pub const fn piece(&self) -> usize {
        self.prefill.piece
    }

    /// How many tokens the model has.
    pub const fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// Makes this the number of tokens of a model whose methods give embeddings in the place of logits.
    pub(crate) const fn embeds(&mut self, vocabulary: usize) {
        self.vocabulary = vocabulary;
    }

    /// The bytes of this name in the program file.
    pub fn named_data(&self, key: &str) -> Option<&[u8]> {
        self.prefill.module.named_data(key)
    }

    /// Begins a new text. The KV cache of the last text is overwritten before use.
    pub fn reset(&mut self) {
        self.truncate(0);
        self.ahead.clear();
        self.written = 0;
    }

    /// Forgets the tokens of the text that was read behind the first [`Self::kept`]; returns their number.
    pub fn rewind(&mut self, text: &[u32]) -> usize {
        let kept = self.kept(text);
        if kept == 0 {
            self.reset();
        }
        self.truncate(kept);
        self.ahead.clear();
        kept
    }

    /// How many tokens at the beginning of this text are known from the text that was read: their common prefix, without the last token of
    /// this text, so that a token remains to read. None where a ring buffer has wrapped around and more than a piece would be forgotten: the
    /// ring buffer has overwritten the oldest tokens that the prefix needs again; and none where a token would be forgotten that a state
    /// space has read.
    pub fn kept(&self, text: &[u32]) -> usize {
        let same = common_prefix(&self.read, text);
        let left = self.tiles.whole(same.min(text.len().saturating_sub(1)));
        if self.has_forgotten(self.written, self.read.len(), left) { 0 } else { left }
    }

    /// Whether there is state that is no KV cache, from which no token can be taken back.
    pub const fn is_recurrent(&self) -> bool {
        self.is_recurrent
    }

    /// Whether a ring buffer has overwritten tokens, once `written` positions were written.
    pub(crate) const fn has_wrapped(&self, written: usize) -> bool {
        written > self.slots
    }

    /// Whether the state for the first `left` of `read` tokens is lost then: in a ring buffer that has overwritten tokens which these need
    /// again, or in a state space.
    pub(crate) const fn has_forgotten(&self, written: usize, read: usize, left: usize) -> bool {
        let is_overwritten = self.has_wrapped(written) && written - left > self.prefill.piece;
        is_overwritten || (self.is_recurrent && left < read)
    }

    /// Forgets the tokens behind the first `left`, and the tile that these end within.
    fn truncate(&mut self, left: usize) {
        let left = self.tiles.whole(left);
        self.read.truncate(left);
        self.tiles.truncate(left);
    }

    /// The position of the next token: less than the number of tokens behind tiles whose tokens have rows and columns.
    pub fn position(&self) -> usize {
        self.read.len().saturating_sub(self.tiles.saved())
    }

    /// Reads further tokens; returns the logits behind the last token, one for each token of the vocabulary.
    ///
    /// # Errors
    /// [`Error::ContextFull`], [`Error::UnknownToken`] and [`Error::NoTokens`] before the first token is read; errors of the program, after
    /// which no text is read: some layers may have read the tokens, and others not.
    pub fn read(&mut self, tokens: &[u32]) -> Result<&[f32], Error> {
        self.check(tokens)?;
        let made = self.go_through(tokens);
        self.or_reset(made)?;
        Ok(&self.logits)
    }

    /// Resets the model after an error.
    fn or_reset<T>(&mut self, made: Result<T, Error>) -> Result<T, Error> {
        made.inspect_err(|_| self.reset())
    }

    /// Reads tokens that can be read.
    fn go_through(&mut self, tokens: &[u32]) -> Result<(), Error> {
        if let ([token], Some(verify)) = (tokens, &self.verify)
            && let Some(row) = self.ahead.take(*token)
        {
            self.read.push(*token);
            return verify.logits(row, &mut self.bytes, &mut self.logits);
        }
        self.ahead.clear();
        let mut rest = tokens;
        while !rest.is_empty() {
            let text = text_of(rest);
            if text.is_empty() {
                rest = self.read_tile(rest)?;
                continue;
            }
            let length = next_chunk(&self.lengths, text.len());
            let (piece, behind) = rest.split_at(text.len().min(length));
            let place = self.place();
            let mut longer = self.shorter.iter_mut();
            let method = match length {
                1 => &mut self.decode,
                length => longer.find(|method| method.piece == length).unwrap_or(&mut self.prefill),
            };
            method.execute(piece, place)?;
            self.read.extend_from_slice(piece);
            self.written = self.written.max(self.read.len());
            rest = behind;
            if rest.is_empty() {
                method.logits(0, &mut self.bytes, &mut self.logits)?;
            }
        }
        Ok(())
    }

    /// Reads the tile at the beginning of the tokens; returns the tokens behind the tile.
    fn read_tile<'t>(&mut self, tokens: &'t [u32]) -> Result<&'t [u32], Error> {
        let place = self.place();
        if self.image.as_ref().is_some_and(|image| image.encodes_one(tokens)) {
            // The text before the picture has brought the decoder to memory, which is the encoder's meanwhile.
            self.modules_mut().iter().for_each(|module| module.release_weights());
        }
        let image = self.image.as_mut().ok_or(Error::NoVision)?;
        let tile = image.execute(tokens, place)?;
        self.tiles.push(self.read.len(), &tile);
        let (tile, behind) = tokens.split_at(tile.tokens().len());
        self.read.extend_from_slice(tile);
        self.written = self.written.max(self.read.len());
        if behind.is_empty() {
            image.logits(&mut self.bytes, &mut self.logits)?;
        }
        Ok(behind)
    }

    /// Reads a token, as [`Self::read`] does, together with draft tokens, at most
    /// [`Self::room_ahead`]: if the next token equals the next draft token, [`Self::read`] returns its logits at once.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_ahead(&mut self, token: u32, guesses: &[u32]) -> Result<&[f32], Error> {
        let guesses = text_of(guesses.get(..self.room_ahead()).unwrap_or(guesses));
        if guesses.is_empty() {
            return self.read(&[token]);
        }
        let tokens: Vec<u32> = std::iter::once(token).chain(guesses.iter().copied()).collect();
        self.check(&tokens)?;
        let made = self.verify(&tokens);
        self.or_reset(made)?;
        self.read.push(token);
        self.ahead.set(guesses);
        Ok(&self.logits)
    }

    /// Reads the next token and draft tokens; the logits are those behind the next token.
    fn verify(&mut self, tokens: &[u32]) -> Result<(), Error> {
        let place = self.place();
        let Some(verify) = &mut self.verify else { return Err(Error::NoVerify) };
        verify.execute(tokens, place)?;
        self.written = self.written.max(self.read.len() + tokens.len());
        verify.logits(0, &mut self.bytes, &mut self.logits)
    }

    /// The largest number of draft tokens with the next token: 0 for a program without `verify`.
    pub fn room_ahead(&self) -> usize {
        let room = self.context.map_or(usize::MAX, |context| context.saturating_sub(self.read.len() + 1));
        self.verify.as_ref().map_or(0, |verify| verify.piece.saturating_sub(1).min(room))
    }

    /// Whether the token is the next guess, so that the logits are known.
    pub fn expects(&self, token: u32) -> bool {
        self.ahead.next() == Some(token)
    }

    /// How many positions of this text were ever written.
    pub(crate) const fn written(&self) -> usize {
        self.written
    }

    /// The method whose state is that of all methods.
    pub(crate) const fn methods_state(&self) -> &Module {
        &self.decode.module
    }

    /// The same, to change the state.
    pub(crate) const fn methods_state_mut(&mut self) -> &mut Module {
        &mut self.decode.module
    }

    /// Goes on behind these tokens, whose state is in place.
    pub(crate) fn go_on(&mut self, tokens: Vec<u32>, written: usize) {
        self.reset();
        (self.read, self.written) = (tokens, written);
    }

    /// All methods.
    pub(crate) fn modules_mut(&mut self) -> Vec<&mut Module> {
        let tokens = [&mut self.prefill, &mut self.decode].into_iter().chain(&mut self.shorter).chain(&mut self.verify);
        tokens.map(|method| &mut method.module).chain(self.image.as_mut().map(ImageMethod::module_mut)).collect()
    }

    /// The names of the program's methods.
    pub(crate) fn method_names(&self) -> Result<Vec<String>, Error> {
        Ok(self.prefill.module.method_names()?)
    }

    /// The state with this name, such as the keys of a layer.
    pub(crate) fn state(&self, name: &str) -> Result<Option<State>, Error> {
        Ok(self.decode.module.state(name)?)
    }

    /// Prepares to read a token by a method for several texts.
    pub(crate) fn prepare(&mut self, token: u32) -> Result<(), Error> {
        self.ahead.clear();
        self.check(&[token])
    }

    /// Forgets the last token of a full context: a method for several texts writes to the KV cache of each text, behind the last token.
    pub(crate) fn make_room(&mut self) {
        self.ahead.clear();
        let most = self.context.map_or(usize::MAX, |context| context.saturating_sub(1));
        if self.is_recurrent && self.read.len() > most {
            self.reset();
        }
        self.truncate(most);
    }

    /// The place of the next token in the text, and the position.
    fn place(&self) -> [usize; 2] {
        [self.read.len(), self.position()]
    }

    /// A method for several texts has written behind the last token.
    pub(crate) fn was_written(&mut self) {
        self.written = self.written.max(self.read.len() + 1);
    }

    /// A method for several texts has read the token, or has written behind the last token; `copy` copies the bytes of the logits.
    pub(crate) fn accept(
        &mut self,
        token: Option<u32>,
        copy: impl FnOnce(&mut [u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.was_written();
        let Some(token) = token else { return Ok(()) };
        self.read.push(token);
        copy(&mut self.bytes)?;
        read_logits(&self.bytes, &mut self.logits);
        Ok(())
    }

    /// An error for tokens that cannot be read.
    pub(crate) fn check(&self, tokens: &[u32]) -> Result<(), Error> {
        let (whole, vocabulary) = (self.read.len() + tokens.len(), self.vocabulary());
        if let Some(context) = self.context.filter(|context| whole > *context) {
            return Err(Error::ContextFull { tokens: whole, context });
        }
        if tokens.is_empty() {
            return Err(Error::NoTokens);
        }
        let is_known = |token: u32| (token as usize) < vocabulary || (self.image.is_some() && is_image(token));
        let unknown = tokens.iter().find(|token| !is_known(**token));
        unknown.map_or(Ok(()), |token| Err(Error::UnknownToken { token: *token, vocabulary }))
    }
}

/// The number of tokens that two texts begin with alike.
pub(crate) fn common_prefix(one: &[u32], other: &[u32]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// The tokens ahead of the next picture.
pub(crate) fn text_of(tokens: &[u32]) -> &[u32] {
    let end = tokens.iter().position(|token| is_image(*token));
    end.and_then(|end| tokens.get(..end)).unwrap_or(tokens)
}

/// The number of positions that every KV cache of a method has, `[1, slots, heads, depth]`, 0 where that is not known; and whether there is
/// other state.
fn slots(module: &Module) -> Result<(usize, bool), Error> {
    let slots = |sizes: &Vec<i32>| match sizes[..] {
        [1, slots, _, _] => Some(usize::try_from(slots).unwrap_or(0)),
        _ => None,
    };
    let all = module.state_sizes()?;
    let caches: Vec<usize> = all.iter().filter_map(slots).collect();
    Ok((caches.iter().copied().min().unwrap_or(0), caches.len() < all.len()))
}

/// Whether a method reads a shorter chunk of a prompt, such as `prefill_8`.
fn is_shorter_prefill(name: &str) -> bool {
    let tokens = name.strip_prefix(PREFILL).and_then(|rest| rest.strip_prefix('_'));
    tokens.is_some_and(|tokens| tokens.parse::<usize>().is_ok())
}

fn not_a_language_model(error: et_module::Error) -> Error {
    match error {
        et_module::Error::MethodMissing { .. } => Error::NotALanguageModel(error.to_string()),
        error => Error::Module(error),
    }
}
