//! The vendor's interface, loaded at run time. Code outside these files is safe.
//!
//! Users install the vendor's libraries; etbuild contains no part of these libraries. The layouts are facts of the public reference of the interface
//! (Qualcomm document 80-63442-50), for 64-bit little-endian machines.

pub mod abi;
pub mod context;
pub mod contexts;
pub mod device;
pub mod executable;
pub mod graph;
pub mod library;
pub mod log;
mod output;
pub mod tensor;
