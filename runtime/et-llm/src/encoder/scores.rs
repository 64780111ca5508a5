//! Probabilities and scores of logits.

use super::Scores;

/// The probabilities or scores of logits.
pub fn scores(logits: &[f32], kind: Scores) -> Vec<f32> {
    match kind {
        Scores::Plain => logits.to_vec(),
        Scores::Sigmoid => logits.iter().map(|logit| 1.0 / (1.0 + (-logit).exp())).collect(),
        Scores::Softmax => {
            let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let shares: Vec<f32> = logits.iter().map(|logit| (logit - most).exp()).collect();
            let sum: f32 = shares.iter().sum();
            shares.iter().map(|share| share / sum).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_one_and_large_logits_stay_finite() {
        let shares = scores(&[1000.0, 1000.0, 0.0], Scores::Softmax);
        assert_eq!(shares, [0.5, 0.5, 0.0]);
        assert_eq!(scores(&[0.0], Scores::Sigmoid), [0.5]);
        assert_eq!(scores(&[3.0], Scores::Plain), [3.0]);
    }
}
