//! SIMD kernels written once and compiled per instruction set (ISA).
//!
//! [`Isa`] names the ISAs and detects them. The vectors of an ISA belong to a token, a [`Simd`] value, which exists only
//! if the CPU has the instructions. A kernel implements [`Work`] for every token, and [`Level::run`] dispatches to the
//! token of the given ISA.
//!
//! ```
//! use et_simd::{Float, Level, Simd, Work};
//!
//! struct Double<'a>(&'a mut [f32]);
//!
//! impl Work for Double<'_> {
//!     type Output = ();
//!     #[inline(always)]
//!     fn run<S: Simd>(self, isa: S) {
//!         for at in (0..self.0.len()).step_by(S::LANES) {
//!             let numbers = isa.load(self.0, at);
//!             isa.store(self.0, at, numbers + numbers);
//!         }
//!     }
//! }
//!
//! let mut numbers = [1.0, 2.0, 3.0];
//! Level::detect().unwrap().run(Double(&mut numbers));
//! assert_eq!(numbers, [2.0, 4.0, 6.0]);
//! ```
#![no_std]
// Helpers of ISAs that the enabled features leave out.
#![cfg_attr(not(feature = "portable"), allow(dead_code, unused_imports))]

#[cfg(any(test, feature = "std"))]
extern crate std;

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod activation;
mod detect;
mod dot;
mod float;
#[cfg(any(target_arch = "aarch64", target_arch = "wasm32"))]
mod four;
mod half;
mod integer;
mod isa;
mod level;
pub mod math;
mod operators;
mod portable;
mod simd;
#[cfg(target_arch = "wasm32")]
mod wasm32;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::{Neon, NeonDot};
pub use activation::{Activation, ActivationLoop, Clamp, Formula, HardSwish, Identity};
pub use dot::{Bytes, Dot, DotWork, GemmDot, part_of_word, word};
pub use float::Float;
pub use integer::Integer;
pub use isa::{Architecture, Isa};
pub use level::{Dots, Level};
pub use portable::Portable;
pub use simd::{Simd, Work};
#[cfg(target_arch = "wasm32")]
pub use wasm32::Simd128;
#[cfg(target_arch = "x86_64")]
pub use x86_64::{Avx2, Avx512, Avx512Vnni, AvxVnni};
