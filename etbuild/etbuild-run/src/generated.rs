//! What the code that the feature `build` generates names.

pub use crate::kernels::KernelSource;
pub use et_core::{Dtypes, Kernel, ScalarType};
pub use et_module::{Constant, Engine, OutputValue};
pub use et_ops;

use crate::{Error, Method};

/// A number of output `index`, or its text.
///
/// # Errors
/// Another kind of output than the one that the code was generated for.
pub fn constant<T>(method: &Method<'_>, index: usize, read: impl FnOnce(Constant) -> Option<T>) -> Result<T, Error> {
    let value = match method.output_value(index)? {
        OutputValue::Constant(constant) => read(constant),
        _ => None,
    };
    value.ok_or_else(|| Error::Argument(format!("output {index} is of another kind")))
}
