//! Kernels of custom operators: one file per operator.
#![no_std]

pub mod fused_gate;
