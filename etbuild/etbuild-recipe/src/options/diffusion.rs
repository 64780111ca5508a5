//! `diffusion:`.

use std::num::NonZero;

use etbuild_yaml::Spanned;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Number;
use crate::FilePath;

/// A pipeline that makes pictures of texts, such as Stable Diffusion.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Diffusion {
    /// The folder of the pipeline in the form of `diffusers`: `tokenizer/`, `scheduler/scheduler_config.json` and `vae/config.json` are
    /// read. The networks come from `model.methods`.
    pub pipeline: FilePath,
    /// The scheduler. If omitted, as `scheduler_config.json` says.
    #[serde(default)]
    pub scheduler: Option<Spanned<DiffusionScheduler>>,
    /// The number of steps of a picture; 50 if omitted.
    #[serde(default)]
    pub steps: Option<Spanned<NonZero<u32>>>,
    /// How closely a picture follows the prompt; 7.5 if omitted. With 1 or less, the UNet reads no negative prompt.
    #[serde(default)]
    pub guidance: Option<Spanned<Number>>,
    /// The seed of the noise; 0 if omitted.
    #[serde(default)]
    pub seed: Option<Spanned<u64>>,
}

/// How noise is removed in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DiffusionScheduler {
    /// `PNDMScheduler` without Runge-Kutta steps.
    Pndm,
    /// `DDIMScheduler` without added noise.
    Ddim,
    /// `EulerDiscreteScheduler` without added noise.
    Euler,
}

impl DiffusionScheduler {
    /// The name in recipes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pndm => "pndm",
            Self::Ddim => "ddim",
            Self::Euler => "euler",
        }
    }
}
