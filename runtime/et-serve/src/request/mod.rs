//! The parameters of requests that all shapes of answers share.

mod form;
mod parameters;
mod wanted;

pub use form::Form;
pub use parameters::Parameters;
pub use wanted::{Sending, Wanted};
