//! Which token follows.

use crate::candidates::Candidates;
use crate::constraint::mask;
use crate::{Error, Matcher, Random, Sampling, repetition};

/// Picks tokens by their logits. The same options, logits and texts give the same tokens.
pub struct Sampler {
    options: Sampling,
    random: Random,
    candidates: Candidates,
    /// Numbers that are added to the logits of tokens.
    bias: Vec<(u32, f32)>,
    /// The form of the answer, if any.
    matcher: Option<Box<dyn Matcher>>,
    /// The token behind which the form holds, if the answer does not have the token yet.
    behind: Option<u32>,
    /// The tokens of the answer.
    picked: Vec<u32>,
    /// Logits changed by the text so far.
    changed: Vec<f32>,
}

impl Sampler {
    /// A sampler at the start of the random numbers.
    pub fn new(options: Sampling) -> Self {
        Self {
            options,
            random: Random::new(options.seed),
            candidates: Candidates::default(),
            bias: Vec::new(),
            matcher: None,
            behind: None,
            picked: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// Adds numbers to the logits of tokens.
    #[must_use]
    pub fn biased(mut self, bias: Vec<(u32, f32)>) -> Self {
        self.bias = bias;
        self
    }

    /// Begins an answer, which has the form of a matcher; the random numbers go on.
    pub fn begin(&mut self, matcher: Option<Box<dyn Matcher>>) {
        self.begin_behind(None, matcher);
    }

    /// Begins an answer, which has the form of a matcher behind the first occurrence of a token, such as the end of thoughts.
    pub fn begin_behind(&mut self, token: Option<u32>, matcher: Option<Box<dyn Matcher>>) {
        self.matcher = matcher;
        self.behind = token;
        self.picked.clear();
    }

    /// Whether the answer is complete by its form.
    pub fn is_complete(&self) -> bool {
        self.matcher.as_ref().is_some_and(|matcher| matcher.is_complete())
    }

    /// The token that follows `text`, by the logits behind `text`.
    ///
    /// # Errors
    /// [`Error::NoLogits`] where every logit is infinite, or a logit is NaN; errors of the matcher.
    pub fn pick(&mut self, logits: &[f32], text: &[u32]) -> Result<u32, Error> {
        let token = match self.changes_logits() {
            false => self.choose(logits)?,
            true => {
                let mut changed = std::mem::take(&mut self.changed);
                let token = self.change(&mut changed, logits, text).and_then(|()| self.choose(&changed));
                self.changed = changed;
                token?
            }
        };
        self.picked.push(token);
        if self.behind.is_some() {
            self.behind.take_if(|behind| *behind == token);
        } else if let Some(matcher) = &mut self.matcher {
            matcher.advance(token)?;
        }
        Ok(token)
    }

    fn changes_logits(&self) -> bool {
        self.options.changes_logits() || self.matcher.is_some() || !self.bias.is_empty()
    }

    /// The logits with all changes, in `changed`. Where the options against repetition forbid all tokens that the form allows, the form
    /// alone counts.
    fn change(&mut self, changed: &mut Vec<f32>, logits: &[f32], text: &[u32]) -> Result<(), Error> {
        changed.clear();
        changed.extend_from_slice(logits);
        for (token, bias) in &self.bias {
            if let Some(logit) = changed.get_mut(*token as usize) {
                *logit += bias;
            }
        }
        repetition::discourage(changed, text, &self.picked, &self.options);
        let Some(matcher) = self.matcher.as_mut().filter(|_| self.behind.is_none()) else { return Ok(()) };
        let allowed = matcher.allowed()?;
        if !mask(changed, allowed) {
            changed.copy_from_slice(logits);
            mask(changed, allowed);
        }
        Ok(())
    }

    fn choose(&mut self, logits: &[f32]) -> Result<u32, Error> {
        let best = most_probable(logits).ok_or(Error::NoLogits)?;
        if self.options.temperature <= 0.0 {
            return Ok(best);
        }
        self.candidates.set(logits, &self.options);
        Ok(self.candidates.at(self.random.fraction()).unwrap_or(best))
    }
}

/// The first of the largest logits, if finite and if no logit is NaN.
fn most_probable(logits: &[f32]) -> Option<u32> {
    const CHUNK: usize = 1024;
    // The largest logit of a chunk is found without branches, so that the compiler uses vectors.
    let largest = |chunk: &[f32]| {
        chunk
            .iter()
            .fold((f32::NEG_INFINITY, false), |(largest, nan), logit| (largest.max(*logit), nan | logit.is_nan()))
    };
    let (mut best, mut at) = (f32::NEG_INFINITY, None);
    for (index, chunk) in logits.chunks(CHUNK).enumerate() {
        let (found, nan) = largest(chunk);
        if nan {
            return None;
        }
        if found > best {
            best = found;
            at = chunk.iter().position(|logit| *logit == found).map(|place| index * CHUNK + place);
        }
    }
    best.is_finite().then_some(at).flatten().and_then(|at| u32::try_from(at).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f32; 5] = [0.0, 2.0, 1.0, 2.0, f32::NEG_INFINITY];

    /// How often each token is picked in 4000 draws.
    fn counts(options: Sampling) -> [u32; 5] {
        let mut sampler = Sampler::new(options);
        let mut counts = [0; 5];
        (0..4000).for_each(|_| counts[sampler.pick(&LOGITS, &[]).unwrap() as usize] += 1);
        counts
    }

    #[test]
    fn without_temperature_the_first_of_the_largest_is_picked() {
        assert_eq!(Sampler::new(Sampling::default()).pick(&LOGITS, &[]).unwrap(), 1);
        let mut many = vec![0.0; 5000];
        many[4321] = 0.5;
        assert_eq!(Sampler::new(Sampling::default()).pick(&many, &[]).unwrap(), 4321);
    }

    #[test]
    fn logits_that_are_not_numbers_are_an_error() {
        for temperature in [0.0, 1.0] {
            let mut sampler = Sampler::new(Sampling { temperature, ..Sampling::default() });
            for logits in [&[][..], &[f32::NAN; 3], &[1.0, f32::NAN], &[f32::INFINITY, 0.0], &[f32::NEG_INFINITY; 2]] {
                assert!(matches!(sampler.pick(logits, &[]), Err(Error::NoLogits)), "{logits:?}");
            }
        }
    }

    #[test]
    fn tokens_come_as_often_as_they_are_probable() {
        let counts = counts(Sampling { temperature: 1.0, ..Sampling::default() });
        let whole: f32 = LOGITS.iter().map(|logit| logit.exp()).sum();
        for (count, logit) in counts.iter().zip(LOGITS) {
            assert!((*count as f32 - 4000.0 * logit.exp() / whole).abs() < 120.0, "{counts:?}");
        }
    }

    #[test]
    fn what_does_not_come_into_question_never_comes() {
        let three = counts(Sampling { temperature: 1.0, top_k: 3, ..Sampling::default() });
        assert!(three[0] == 0 && three[2] > 0, "{three:?}");
        let half = counts(Sampling { temperature: 1.0, top_p: 0.5, ..Sampling::default() });
        assert!(half[1] > 0 && half[3] > 0 && half[0] + half[2] == 0, "{half:?}");
        assert_eq!(counts(Sampling { temperature: 1.0, top_p: 0.0, ..Sampling::default() })[1], 4000);
        // Token 2 has 0.37 times the largest probability, token 0 has 0.14 times.
        let near = counts(Sampling { temperature: 1.0, min_p: 0.3, ..Sampling::default() });
        assert!(near[0] == 0 && near[2] > 0, "{near:?}");
        let nearest = counts(Sampling { temperature: 1.0, min_p: 1.0, ..Sampling::default() });
        assert!(nearest[1] > 0 && nearest[3] > 0 && nearest[0] + nearest[2] == 0, "{nearest:?}");
    }

    #[test]
    fn a_penalty_changes_the_token_with_and_without_temperature() {
        for temperature in [0.0, 0.01] {
            let options = Sampling { temperature, repetition_penalty: 3.0, ..Sampling::default() };
            let mut sampler = Sampler::new(options);
            assert_eq!(sampler.pick(&LOGITS, &[1]).unwrap(), 3);
            assert_eq!(sampler.pick(&LOGITS, &[1, 3]).unwrap(), 2);
        }
        let mut sampler = Sampler::new(Sampling { no_repeat_ngram_size: 2, ..Sampling::default() });
        assert_eq!(sampler.pick(&LOGITS, &[0, 1, 0]).unwrap(), 3);
    }

    #[test]
    fn typical_tokens_are_nearest_to_the_entropy() {
        // Probabilities 0.5, 0.2, 0.2, 0.1 and an entropy of 1.22: 0.2 has 1.61, 0.5 has 0.69, 0.1 has 2.3.
        let logits = [0.5_f32, 0.2, 0.2, 0.1].map(f32::ln);
        let kept = |typical_p| {
            let mut sampler = Sampler::new(Sampling { temperature: 1.0, typical_p, ..Sampling::default() });
            let mut counts = [0; 4];
            (0..2000).for_each(|_| counts[sampler.pick(&logits, &[]).unwrap() as usize] += 1);
            counts.map(|count| count > 0)
        };
        assert_eq!(kept(0.2), [false, true, true, false]);
        assert_eq!(kept(0.8), [true, true, true, false]);
        assert_eq!(kept(0.95), [true; 4]);
    }

    #[test]
    fn a_bias_changes_the_token() {
        let mut sampler = Sampler::new(Sampling::default()).biased(vec![(1, -100.0), (2, 1.5), (9, 5.0)]);
        assert_eq!(sampler.pick(&LOGITS, &[]).unwrap(), 2);
    }

    /// The results of `SequenceBiasLogitsProcessor` and `RepetitionPenaltyLogitsProcessor` of `transformers` 5.23, in this order.
    #[test]
    fn bias_and_penalty_change_logits_as_in_transformers() {
        let logits = [3.0, 2.5, 2.4, 1.0, 0.5, 0.25, -0.5, -1.0];
        let options = Sampling { repetition_penalty: 1.3, ..Sampling::default() };
        let mut sampler = Sampler::new(options).biased(vec![(1, -1.5), (3, 2.0)]);
        let mut changed = Vec::new();
        sampler.change(&mut changed, &logits, &[0, 6, 6]).unwrap();
        let expected = [2.3077, 1.0, 2.4, 3.0, 0.5, 0.25, -0.65, -1.0];
        assert!(changed.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-4), "{changed:?}");
    }

    #[test]
    fn tokens_of_the_answer_alone_have_presence_and_frequency() {
        let mut sampler = Sampler::new(Sampling { presence_penalty: 0.5, ..Sampling::default() });
        let picked = |sampler: &mut Sampler, count| -> Vec<u32> {
            (0..count).map(|_| sampler.pick(&LOGITS, &[1, 1, 3, 3]).unwrap()).collect()
        };
        assert_eq!(picked(&mut sampler, 4), [1, 3, 1, 1]);
        sampler.begin(None);
        assert_eq!(picked(&mut sampler, 1), [1]);
        let mut sampler = Sampler::new(Sampling { frequency_penalty: 0.6, ..Sampling::default() });
        assert_eq!(picked(&mut sampler, 5), [1, 3, 1, 3, 2]);
    }

    /// Allows even tokens, ends behind token 2.
    struct Even(bool);

    impl Matcher for Even {
        fn again(&self) -> Box<dyn Matcher> {
            Box::new(Self(self.0))
        }

        fn allowed(&mut self) -> Result<&[u32], Error> {
            Ok(&[0b10101])
        }

        fn advance(&mut self, token: u32) -> Result<(), Error> {
            assert!(token.is_multiple_of(2), "{token}");
            self.0 = token == 2;
            Ok(())
        }

        fn is_complete(&self) -> bool {
            self.0
        }
    }

    #[test]
    fn the_form_of_the_answer_holds_with_every_option() {
        for temperature in [0.0, 1.0, 5.0] {
            let options = Sampling { temperature, no_repeat_ngram_size: 1, top_k: 3, ..Sampling::default() };
            let mut sampler = Sampler::new(options);
            sampler.begin(Some(Box::new(Even(false))));
            assert!(!sampler.is_complete());
            let mut text = vec![1, 3];
            for _ in 0..50 {
                text.push(sampler.pick(&LOGITS, &text).unwrap());
                assert_eq!(sampler.is_complete(), text.last() == Some(&2));
            }
        }
    }

    #[test]
    fn the_form_may_begin_behind_a_token() {
        let mut sampler = Sampler::new(Sampling::default());
        sampler.begin_behind(Some(3), Some(Box::new(Even(false))));
        let logits = [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.5, 1.0, 0.0, 0.0]];
        assert_eq!(logits.map(|logits| sampler.pick(&logits, &[]).unwrap()), [1, 3, 0]);
    }

    #[test]
    fn options_out_of_range_are_refused() {
        assert!(Sampling::default().checked().is_ok());
        for temperature in [-1.0, f32::NAN, f32::INFINITY] {
            assert!(Sampling { temperature, ..Sampling::default() }.checked().is_err());
        }
        for top_p in [-0.5, 5.0, f32::NAN] {
            assert!(Sampling { top_p, ..Sampling::default() }.checked().is_err());
            assert!(Sampling { min_p: top_p, ..Sampling::default() }.checked().is_err());
            assert!(Sampling { typical_p: top_p, ..Sampling::default() }.checked().is_err());
        }
        for penalty in [-2.5, 3.0, f32::NAN] {
            assert!(Sampling { frequency_penalty: penalty, ..Sampling::default() }.checked().is_err());
            assert!(Sampling { presence_penalty: penalty, ..Sampling::default() }.checked().is_err());
        }
        for repetition_penalty in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert!(Sampling { repetition_penalty, ..Sampling::default() }.checked().is_err());
        }
    }

    #[test]
    fn a_seed_repeats_and_another_differs() {
        let draw = |seed| {
            let mut sampler = Sampler::new(Sampling { temperature: 1.0, seed, ..Sampling::default() });
            [(); 20].map(|()| sampler.pick(&LOGITS, &[]).unwrap())
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
