//! Files of `torch.save`: a zip container with a pickle, and the elements of each storage as a member.
//!
//! A pickle is a program for a stack machine that may call any Python function. This crate knows the few functions that rebuild tensors, and
//! calls none: a pickle with another global is an error that names the global. Classes of torchao are names with attributes. Files are untrusted: this crate does not panic on any file.

mod archive;
mod error;
mod globals;
mod instances;
mod layout;
mod machine;
mod opcodes;
mod remedy;
mod tensors;

pub use archive::{Member, members};
pub use error::TorchError;
pub use instances::Class;
pub use layout::gather;
pub use remedy::Remedy;
pub use tensors::{Contents, Elements, Tensor, read};
