//! Updates on a disk that fails and loses power.

mod power_cut;
mod refusals;
mod support;
