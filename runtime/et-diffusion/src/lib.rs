//! Pictures from texts on a hosted machine: latent diffusion, as Stable Diffusion does it.
//!
//! A [`Pipeline`] is a program file with the methods of [`METHODS`] and the facts [`Facts`]: a text encoder, a UNet that a [`Scheduler`] calls
//! to remove noise step by step, and the decoder of a VAE. [`Noise`] gives the numbers of PyTorch's generator, so that a seed gives the
//! picture of `diffusers`. [`app`] is the whole command line of a generated binary. No third-party crate.
//!
//! ```
//! use et_diffusion::Noise;
//!
//! let numbers = Noise::new(3).normal(16);
//! assert_eq!(numbers.len(), 16);
//! assert_eq!(numbers, Noise::new(3).normal(16));
//! ```

pub mod app;
mod elements;
mod error;
mod facts;
mod loading;
mod network;
mod noise;
mod picture;
mod pipeline;
mod prompt;
mod schedule;
mod scheduler;
mod settings;
mod times;

pub use error::Error;
pub use facts::{DIFFUSION_KEY, Facts};
pub use loading::Loading;
pub use noise::Noise;
pub use picture::{Picture, WritePicture};
pub use pipeline::{Given, METHODS, Pipeline, Stage};
pub use schedule::{Betas, Prediction, Schedule, Spacing};
pub use scheduler::{Kind, SCHEDULERS, Scheduler};
pub use settings::Settings;
pub use times::Times;
