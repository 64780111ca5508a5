//! Which token follows.

use crate::{Error, Random, Sampling, repetition};

/// Picks tokens by their logits. The same options, logits and texts give the same tokens.
#[derive(Clone, Debug)]
pub struct Sampler {
    options: Sampling,
    random: Random,
    candidates: Vec<Candidate>,
    /// Logits changed by the text so far.
    discouraged: Vec<f32>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    token: u32,
    weight: f32,
}

impl Sampler {
    /// A sampler at the start of the random numbers.
    pub const fn new(options: Sampling) -> Self {
        Self { options, random: Random::new(options.seed), candidates: Vec::new(), discouraged: Vec::new() }
    }

    /// The token that follows `text`, by the logits behind `text`.
    ///
    /// # Errors
    /// [`Error::NoLogits`] where every logit is infinite, or a logit is NaN.
    pub fn pick(&mut self, logits: &[f32], text: &[u32]) -> Result<u32, Error> {
        if self.options.repetition_penalty == 1.0 && self.options.no_repeat_ngram_size == 0 {
            return self.choose(logits);
        }
        let mut discouraged = std::mem::take(&mut self.discouraged);
        discouraged.clear();
        discouraged.extend_from_slice(logits);
        repetition::discourage(&mut discouraged, text, &self.options);
        let token = self.choose(&discouraged);
        self.discouraged = discouraged;
        token
    }

    fn choose(&mut self, logits: &[f32]) -> Result<u32, Error> {
        let best = most_probable(logits).ok_or(Error::NoLogits)?;
        if self.options.temperature <= 0.0 {
            return Ok(best);
        }
        self.weigh(logits);
        self.cut();
        let whole: f32 = self.candidates.iter().map(|candidate| candidate.weight).sum();
        let mut rest = self.random.fraction() * whole;
        for candidate in &self.candidates {
            rest -= candidate.weight;
            if rest < 0.0 {
                return Ok(candidate.token);
            }
        }
        Ok(self.candidates.first().map_or(best, |candidate| candidate.token))
    }

    /// Every token with the ratio of the token's probability to the largest probability.
    fn weigh(&mut self, logits: &[f32]) {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let temperature = self.options.temperature;
        let weigh = |(token, logit): (u32, &f32)| Candidate { token, weight: ((logit - largest) / temperature).exp() };
        self.candidates.clear();
        self.candidates.extend((0..).zip(logits).map(weigh).filter(|candidate| candidate.weight > 0.0));
    }

    /// Leaves the candidates that come into question, the most probable first where some are left out.
    fn cut(&mut self) {
        let all = self.candidates.len();
        let most = if self.options.top_k == 0 { all } else { self.options.top_k.min(all) };
        if most < all {
            self.candidates.select_nth_unstable_by(most.saturating_sub(1), Candidate::before);
            self.candidates.truncate(most);
        }
        if most < all || self.options.top_p < 1.0 {
            self.candidates.sort_unstable_by(Candidate::before);
        }
        if self.options.top_p < 1.0 {
            self.candidates.truncate(self.share(self.options.top_p));
        }
        // The largest weight is 1.
        self.candidates.retain(|candidate| candidate.weight >= self.options.min_p);
    }

    /// The number of first candidates with this share of the probability; at least one.
    fn share(&self, share: f32) -> usize {
        let whole: f32 = self.candidates.iter().map(|candidate| candidate.weight).sum();
        let mut sum = 0.0;
        let enough = self.candidates.iter().position(|candidate| {
            sum += candidate.weight;
            sum >= share * whole
        });
        enough.map_or(self.candidates.len(), |last| last + 1)
    }
}

impl Candidate {
    /// Orders by falling probability, then by rising token: an order without ties.
    fn before(one: &Self, other: &Self) -> std::cmp::Ordering {
        other.weight.total_cmp(&one.weight).then(one.token.cmp(&other.token))
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
    fn options_out_of_range_are_refused() {
        assert!(Sampling::default().checked().is_ok());
        for temperature in [-1.0, f32::NAN, f32::INFINITY] {
            assert!(Sampling { temperature, ..Sampling::default() }.checked().is_err());
        }
        for top_p in [-0.5, 5.0, f32::NAN] {
            assert!(Sampling { top_p, ..Sampling::default() }.checked().is_err());
            assert!(Sampling { min_p: top_p, ..Sampling::default() }.checked().is_err());
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
