//! Draft tokens of a smaller model.

use std::path::Path;
use std::rc::Rc;

use et_module::{DataFiles, Engines, FileBytes, Kernels};

use crate::{Error, Facts, GENERATION_KEY, Model, Proposer, Sampler, Sampling, is_image};

/// The initial number of draft tokens.
const FIRST: usize = 4;

/// A draft model, decoded greedily on the same text. The number of draft tokens grows after full acceptance, and
/// shrinks to at least one otherwise.
pub struct Draft {
    model: Model,
    greedy: Sampler,
    /// The number of draft tokens of the next proposal.
    count: usize,
}

impl Draft {
    /// Loads a program file with all weights inside, for a model of `vocabulary` tokens.
    ///
    /// # Errors
    /// [`Error::Draft`].
    pub fn load(path: &Path, vocabulary: usize, kernels: Kernels<'_>, engines: &Engines) -> Result<Self, Error> {
        let failed = |error| Error::Draft { path: path.to_owned(), error: Box::new(error) };
        let file = FileBytes::open(path).map_err(|error| failed(error.into()))?;
        let model = Model::load(&Rc::new(file), || Ok(DataFiles::default()), kernels, engines);
        let mut model = model.map_err(failed)?;
        if model.vocabulary() != vocabulary {
            return Err(failed(Error::OtherVocabulary { draft: model.vocabulary(), model: vocabulary }));
        }
        if model.is_recurrent() {
            return Err(failed(Error::NoWayBack));
        }
        let facts = model.named_data(GENERATION_KEY).and_then(|bytes| std::str::from_utf8(bytes).ok());
        let context = facts.map(Facts::parse).unwrap_or_default().context;
        model.limit(context);
        Ok(Self { model, greedy: Sampler::new(Sampling::default()), count: FIRST })
    }
}

impl Proposer for Draft {
    fn begin(&mut self) {}

    fn propose(&mut self, text: &[u32], most: usize, guesses: &mut Vec<u32>) -> Result<(), Error> {
        if text.iter().copied().any(is_image) {
            // A draft model sees no pictures.
            return Ok(());
        }
        let room = self.model.context().map_or(usize::MAX, |context| (context + 1).saturating_sub(text.len()));
        // Rewinding drops rejected draft tokens from the KV cache of the draft model.
        let known = self.model.rewind(text);
        let mut next = text.get(known..).unwrap_or_default().to_vec();
        for _ in 0..most.min(self.count).min(room) {
            let token = self.greedy.pick(self.model.read(&next)?, &[])?;
            guesses.push(token);
            next = vec![token];
        }
        Ok(())
    }

    fn judged(&mut self, guesses: usize, right: usize) {
        self.count = if right < guesses { guesses.saturating_sub(1).max(1) } else { guesses + 2 };
    }
}
