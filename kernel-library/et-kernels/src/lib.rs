//! Kernels.
#![no_std]
