//! The vendor's interface, loaded at run time. Code outside these files is safe.
//!
//! The libraries are the user's: nothing of them is part of etbuild. The layouts are facts of the public reference of the interface
//! (Qualcomm document 80-63442-50), for 64-bit little-endian machines.

pub mod abi;
pub mod context;
pub mod device;
pub mod graph;
pub mod library;
pub mod log;
pub mod tensor;
