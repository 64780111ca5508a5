//! The times of a picture.

use std::fmt::{Display, Formatter};
use std::time::Instant;

/// Milliseconds by stage; displays as the inner part of a JSON object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Loading the text encoder, the UNet and the VAE decoder.
    pub load_ms: [f64; 3],
    /// The text encoder, over all prompts.
    pub text_encoder_ms: f64,
    /// Each call of the UNet for both prompts.
    pub unet_ms: Vec<f64>,
    /// The VAE decoder.
    pub vae_decoder_ms: f64,
}

impl Display for Times {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let list = |numbers: &[f64]| numbers.iter().map(|number| format!("{number:.3}")).collect::<Vec<_>>().join(", ");
        write!(
            formatter,
            r#""load_ms": [{}], "text_encoder_ms": {:.3}, "unet_ms": [{}], "vae_decoder_ms": {:.3}"#,
            list(&self.load_ms),
            self.text_encoder_ms,
            list(&self.unet_ms),
            self.vae_decoder_ms
        )
    }
}

/// The result of `run`, and the milliseconds that `run` took.
pub fn timed<T, E>(run: impl FnOnce() -> Result<T, E>) -> Result<(T, f64), E> {
    let start = Instant::now();
    let done = run()?;
    Ok((done, start.elapsed().as_secs_f64() * 1e3))
}
