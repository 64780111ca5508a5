//! Batch, layer, group and RMS norms, and dropout.

mod groups;
mod normalize;
mod rows;

pub mod group_norm;
pub mod layer_norm;
pub mod native_batch_norm_legit;
pub mod native_batch_norm_legit_no_training;
pub mod native_dropout;
pub mod native_group_norm;
pub mod native_layer_norm;
pub mod rms_norm;
