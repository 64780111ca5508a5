//! How well a model foresees texts.

use std::fs;
use std::path::Path;

use super::channels::Channels;
use super::files::failed;
use crate::{Error, Model, Session};

/// The perplexity of a model on texts, as sums.
#[derive(Clone, Copy, Debug, Default)]
struct Surprise {
    texts: usize,
    /// The number of predicted tokens: all tokens except the first of each text.
    tokens: usize,
    /// The sum of `-ln(probability)` over the tokens.
    sum: f64,
}

/// Reads the lines of a file, each a text of its own, token by token, and prints the perplexity as one JSON
/// object: `perplexity` is `exp` of the mean of `-ln(probability)`. A line that outgrows the context goes on as a new text.
///
/// # Errors
/// [`Error::File`] for a file that is not UTF-8; [`Error::NoTokenizer`]; [`Error::NoTokens`] for a file without a token to predict.
pub fn run(session: &mut Session, path: &Path, channels: &mut Channels<'_>) -> Result<(), Error> {
    if session.model.has_text_encoder() {
        return Err(Error::NotBehindTextEncoder("--perplexity"));
    }
    let lines = fs::read_to_string(path).map_err(|error| failed(path, &error))?;
    let (text, mut surprise) = (session.text()?, Surprise::default());
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let tokens = text.encode(line, true)?;
        let most = session.model.context().unwrap_or(tokens.len()).max(1);
        for part in tokens.chunks(most) {
            surprise.texts += 1;
            foresee(&mut session.model, part, |_, loss| {
                surprise.tokens += 1;
                surprise.sum += loss;
                Ok(())
            })?;
        }
    }
    if surprise.tokens == 0 {
        return Err(Error::NoTokens);
    }
    let Surprise { texts, tokens, sum } = surprise;
    if !sum.is_finite() {
        return Err(Error::NoLogits);
    }
    let perplexity = (sum / tokens as f64).exp();
    Ok(writeln!(channels.out, r#"{{"perplexity":{perplexity:.6},"tokens":{tokens},"texts":{texts}}}"#)?)
}

/// Reads a text of its own, token by token. `see` gets the logits behind each token but the last, and `-ln` of the probability that these
/// logits give the next token.
///
/// # Errors
/// Errors of the model and of `see`; [`Error::UnknownToken`] for a token outside the vocabulary.
pub fn foresee(
    model: &mut Model,
    tokens: &[u32],
    mut see: impl FnMut(&[f32], f64) -> Result<(), Error>,
) -> Result<(), Error> {
    model.reset();
    for (token, next) in tokens.iter().zip(tokens.iter().skip(1)) {
        let vocabulary = model.vocabulary();
        let logits = model.read(&[*token])?;
        see(logits, loss(logits, *next).ok_or(Error::UnknownToken { token: *next, vocabulary })?)?;
    }
    Ok(())
}

/// `-ln` of the probability that logits give a token; `None` for a token outside the vocabulary.
fn loss(logits: &[f32], token: u32) -> Option<f64> {
    let logit = f64::from(*logits.get(usize::try_from(token).ok()?)?);
    let greatest = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let sum: f64 = logits.iter().map(|logit| (f64::from(*logit) - greatest).exp()).sum();
    Some(greatest + sum.ln() - logit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loss_is_minus_the_logarithm_of_the_probability() {
        let logits = [0.0, 3.0_f32.ln(), 1000.0];
        assert!((loss(&logits[..2], 1).unwrap() - (4.0_f64 / 3.0).ln()).abs() < 1e-6);
        assert!(loss(&logits, 2).unwrap().abs() < 1e-12);
        assert_eq!(loss(&logits, 3), None);
    }
}
