//! Program files and language models in the process of a Rust program.
//!
//! [`Program`] maps a program file that `etbuild` or ExecuTorch made, and loads its methods; a [`Method`] takes arrays, slices and
//! tensors, and gives tensors. [`Loader`] has the options: threads, data files, bytes in place of a file. Several programs work beside
//! each other in a process, and move between threads.
//!
//! ```no_run
//! use etbuild_run::{Program, View};
//!
//! let pixels = vec![0.0_f32; 64];
//! let mut program = Program::open("digits.pte")?;
//! let mut forward = program.method("forward")?;
//! forward.set("x", View::new(&pixels, &[1, 1, 8, 8])?)?;
//! forward.run()?;
//! println!("{:?}", forward.output::<f32>(0)?.elements());
//! # Ok::<(), etbuild_run::Error>(())
//! ```
//!
//! For a program file that is known when the crate is compiled, the feature `build` generates types from the file: `build::generate`
//! in `build.rs`, and [`include!`] in the crate. Inputs are arrays then, so that a wrong shape does not compile, and the binary
//! has exactly the kernels that the program calls.

pub mod backends;
#[cfg(feature = "build")]
pub mod build;
mod describe;
mod error;
#[doc(hidden)]
pub mod generated;
mod kernels;
#[cfg(feature = "text")]
pub mod language;
mod loader;
mod method;
mod program;
mod sharing;
mod tensor;

pub use describe::{MethodFacts, TensorFacts};
pub use error::Error;
pub use et_core::{BFloat16, Half, ScalarType};
pub use et_module::{Array, Constant, OutputValue, TensorType};
#[cfg(feature = "catalogue")]
pub use kernels::operators;
pub use loader::Loader;
pub use method::Method;
pub use program::{Aligned, Program};
pub use tensor::{Element, Fixed, Tensor, View, as_fixed};

/// Includes the code that `build::generate` wrote, as a module: `etbuild_run::include!(digits)` for `digits.pte`, or
/// `etbuild_run::include!(pub digits)`.
#[macro_export]
macro_rules! include {
    ($visibility:vis $name:ident) => {
        #[allow(dead_code, nonstandard_style, clippy::all, clippy::pedantic, reason = "generated")]
        $visibility mod $name {
            ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/", ::core::stringify!($name), ".rs"));
        }
    };
}
