//! Updates on a disk that fails and loses power.

mod bundles;
mod power_cut;
mod refusals;
mod support;
