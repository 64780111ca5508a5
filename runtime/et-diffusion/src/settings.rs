//! The settings of a picture.

use crate::Error;

/// How a picture is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The number of steps.
    pub steps: usize,
    /// The factor of the difference between the outputs for the prompt and for the negative prompt. A factor of 1 or less leaves the
    /// negative prompt out.
    pub guidance: f32,
    /// The seed of the noise.
    pub seed: u64,
}

impl Settings {
    /// Whether the picture differs from a picture of the negative prompt.
    pub fn is_guided(&self) -> bool {
        self.guidance > 1.0
    }

    /// Refuses settings that a pipeline of `most` timesteps cannot follow.
    ///
    /// # Errors
    /// [`Error::Option`] for a number of steps or a guidance out of range.
    pub fn check(&self, most: usize) -> Result<(), Error> {
        if !(1..=most).contains(&self.steps) {
            let range = format!("a number of steps from 1 to {most}");
            return Err(Error::Option { option: "--steps", value: self.steps.to_string(), range });
        }
        if !self.guidance.is_finite() {
            let range = "a finite number".to_owned();
            return Err(Error::Option { option: "--guidance", value: self.guidance.to_string(), range });
        }
        Ok(())
    }
}
