//! The extension module `etbuild._native`: program files and language models in the process of the interpreter.
//!
//! The module wraps `et-module` and `et-llm`. Tensors come in through the buffer protocol (NumPy) or DLPack (PyTorch, JAX), and go
//! out as arrays of the library that the inputs came from. The interpreter's lock is free while a method computes. The
//! Python files beside the crate, the package `etbuild`, are the interface for users.

mod argument;
mod describe;
mod dlpack;
mod elements;
mod engines;
mod exclusive;
mod failure;
mod generation;
mod interrupt;
mod language;
mod library;
mod loaded;
mod method;
mod output;
mod parts;
mod program;
mod speaker;
mod tensor;
mod transcript;

use pyo3::prelude::*;

/// The extension module.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use super::engines::{backends, operators};
    #[pymodule_export]
    use super::generation::Generation;
    #[pymodule_export]
    use super::method::Method;
    #[pymodule_export]
    use super::program::Program;
    #[pymodule_export]
    use super::speaker::LanguageModel;
    #[pymodule_export]
    use super::tensor::Tensor;
}
