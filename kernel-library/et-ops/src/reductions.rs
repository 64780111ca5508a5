//! Sums, means, extremes and products over dimensions, and their running forms.

mod moment;
mod scan;
mod total;

pub mod amax;
pub mod amin;
pub mod any;
pub mod argmax;
pub mod argmin;
pub mod cummax;
pub mod cummin;
pub mod cumprod;
pub mod cumsum;
pub mod logcumsumexp;
pub mod max;
pub mod mean;
pub mod min;
pub mod prod;
pub mod segment_reduce;
pub mod sum;
pub mod var;
pub mod var_mean;
