//! Quantizing, and measuring the loss.

mod calibration_text;
mod failure;
mod losses;
mod measure;
mod moments;
mod prepared;
mod query;
mod ranges;
mod samples;
mod vision;
mod weights;

pub use calibration_text::PIECE;
pub use failure::{no_data, unlabelled};
pub use losses::{Answers, LayerLoss, Losses, exceeded};
pub use measure::{MeasureOptions, losses, measured};
pub use prepared::lowered_or_quantized;
pub use query::{Method, QuantizeOptions};
pub use samples::{hashed, labelled, owned, samples};
