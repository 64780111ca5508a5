//! Quantizing, and measuring the loss.

mod calibration_text;
mod failure;
mod losses;
mod measure;
mod moments;
mod query;
mod ranges;
mod samples;
mod stream;
mod vision;
mod weights;

pub use calibration_text::PIECE;
pub use failure::{no_data, unlabelled};
pub use losses::{Answers, LayerLoss, Losses, exceeded};
pub use measure::{MeasureOptions, losses, measured};
pub use query::{Method, QuantizeOptions, lowered_or_quantized};
pub use samples::{hashed, labelled, owned, samples};
