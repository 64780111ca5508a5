//! The tokens that come into question.

use crate::Sampling;

/// Tokens with weights in proportion to the probabilities.
#[derive(Debug, Default)]
pub struct Candidates(Vec<Candidate>);

#[derive(Clone, Copy, Debug)]
struct Candidate {
    token: u32,
    /// The ratio of the probability to the largest probability.
    weight: f32,
}

impl Candidates {
    /// Replaces the candidates by the tokens of finite logits that the options leave, the most probable first where some are left out.
    pub fn set(&mut self, logits: &[f32], options: &Sampling) {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weigh = |(token, logit): (u32, &f32)| {
            let weight = ((logit - largest) / options.temperature).exp();
            Candidate { token, weight }
        };
        self.0.clear();
        self.0.extend((0..).zip(logits).map(weigh).filter(|candidate| candidate.weight > 0.0));
        self.cut(options);
    }

    /// The token at a fraction of the whole weight; `None` without candidates.
    pub fn at(&self, fraction: f32) -> Option<u32> {
        let mut rest = fraction * self.whole();
        for candidate in &self.0 {
            rest -= candidate.weight;
            if rest < 0.0 {
                return Some(candidate.token);
            }
        }
        self.0.first().map(|candidate| candidate.token)
    }

    fn cut(&mut self, options: &Sampling) {
        let all = self.0.len();
        let most = if options.top_k == 0 { all } else { options.top_k.min(all) };
        if most < all {
            self.0.select_nth_unstable_by(most.saturating_sub(1), Candidate::before);
            self.0.truncate(most);
        }
        if most < all || options.top_p < 1.0 {
            self.0.sort_unstable_by(Candidate::before);
        }
        if options.top_p < 1.0 {
            self.0.truncate(self.share(options.top_p));
        }
        // The largest weight is 1.
        self.0.retain(|candidate| candidate.weight >= options.min_p);
        if options.typical_p < 1.0 {
            self.keep_typical(options.typical_p);
        }
    }

    fn whole(&self) -> f32 {
        self.0.iter().map(|candidate| candidate.weight).sum()
    }

    /// The number of first candidates with this share of the probability; at least one.
    fn share(&self, share: f32) -> usize {
        let (whole, mut sum) = (self.whole(), 0.0);
        let enough = self.0.iter().position(|candidate| {
            sum += candidate.weight;
            sum >= share * whole
        });
        enough.map_or(self.0.len(), |last| last + 1)
    }

    /// Keeps the candidates whose information is nearest to the entropy, and which make up this share (Meister et al. 2022).
    fn keep_typical(&mut self, share: f32) {
        let whole = self.whole();
        let information = |candidate: &Candidate| -(candidate.weight / whole).ln();
        // A share that is too small for a number adds nothing.
        let shares = self.0.iter().map(|one| one.weight / whole).filter(|share| *share > 0.0);
        let entropy: f32 = shares.map(|share| -share * share.ln()).sum();
        let distance = |candidate: &Candidate| (information(candidate) - entropy).abs();
        let mut nearest: Vec<(f32, f32)> = self.0.iter().map(|one| (distance(one), one.weight / whole)).collect();
        nearest.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut sum = 0.0;
        let enough = nearest.iter().find(|(_, probability)| {
            sum += probability;
            sum >= share
        });
        if let Some((farthest, _)) = enough.or(nearest.last()) {
            self.0.retain(|candidate| distance(candidate) <= *farthest);
        }
    }
}

impl Candidate {
    /// Orders by falling probability, then by rising token: an order without ties.
    fn before(one: &Self, other: &Self) -> std::cmp::Ordering {
        other.weight.total_cmp(&one.weight).then(one.token.cmp(&other.token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f32; 12] = [3.0, 2.5, 2.4, 1.0, 0.5, 0.25, -0.5, -1.0, -2.0, -3.5, 2.45, 0.0];

    fn kept(options: Sampling) -> Vec<u32> {
        let mut candidates = Candidates::default();
        candidates.set(&LOGITS, &options);
        let mut tokens: Vec<u32> = candidates.0.iter().map(|candidate| candidate.token).collect();
        tokens.sort_unstable();
        tokens
    }

    /// The tokens that `TemperatureLogitsWarper`, `TopKLogitsWarper`, `TopPLogitsWarper`, `MinPLogitsWarper` and
    /// `TypicalLogitsWarper` of `transformers` 5.23 leave, in this order.
    #[test]
    fn the_candidates_are_those_of_transformers() {
        let usual = Sampling { temperature: 1.0, ..Sampling::default() };
        let cool = Sampling { temperature: 0.7, ..usual };
        let few = Sampling { temperature: 1.5, top_k: 8, ..usual };
        let probable = Sampling { top_p: 0.9, min_p: 0.1, ..usual };
        let cases: [(Sampling, f32, &[u32]); 11] = [
            (usual, 0.1, &[2]),
            (usual, 0.5, &[1, 2, 10]),
            (usual, 0.9, &[0, 1, 2, 3, 10]),
            (usual, 0.99, &[0, 1, 2, 3, 4, 5, 6, 10, 11]),
            (cool, 0.1, &[1]),
            (cool, 0.7, &[0, 1, 2, 10]),
            (cool, 0.99, &[0, 1, 2, 3, 4, 5, 10]),
            (few, 0.3, &[2, 10]),
            (few, 0.9, &[0, 1, 2, 3, 4, 10]),
            (probable, 0.1, &[1]),
            (probable, 0.99, &[0, 1, 2, 3, 10]),
        ];
        for (options, typical_p, expected) in cases {
            assert_eq!(kept(Sampling { typical_p, ..options }), expected, "{options:?} {typical_p}");
        }
        let mut candidates = Candidates::default();
        candidates.set(&[0.0, 0.0, 0.0, 0.0, -103.5], &Sampling { typical_p: 0.9, ..usual });
        assert_eq!(candidates.0.len(), 4);
    }
}
