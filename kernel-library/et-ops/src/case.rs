//! Cases: operator inputs and PyTorch's outputs as plain data, which any kernel provider can run.

use et_core::{Error, ScalarType};

/// An operator call with a known outcome.
#[derive(Debug)]
pub struct Case {
    /// A short description of the tested behaviour.
    pub name: &'static str,
    /// The arguments in schema order, without the out tensors.
    pub arguments: &'static [CaseArgument],
    /// The outcome.
    pub expect: Expectation,
}

/// An argument as a constant.
#[derive(Clone, Copy, Debug)]
pub enum CaseArgument {
    /// Absent.
    None,
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// A floating-point number.
    Double(f64),
    /// Text.
    Text(&'static str),
    /// Integers.
    Ints(&'static [i64]),
    /// Floating-point numbers.
    Doubles(&'static [f64]),
    /// Booleans.
    Bools(&'static [bool]),
    /// A scalar type, which is passed as its number.
    Type(ScalarType),
    /// A tensor.
    Tensor(CaseTensor),
    /// Tensors.
    Tensors(&'static [CaseTensor]),
    /// Tensors, some absent.
    OptionalTensors(&'static [Option<CaseTensor>]),
}

/// A row-major tensor as a constant. Elements are written as `f64` and converted to the type.
#[derive(Clone, Copy, Debug)]
pub struct CaseTensor {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The sizes.
    pub sizes: &'static [i32],
    /// The elements in row-major order; a complex element is its real part followed by its imaginary part.
    pub elements: &'static [f64],
}

/// The expected outcome of a call.
#[derive(Debug)]
pub enum Expectation {
    /// Give these outputs, each element within the relative and absolute tolerance.
    Outputs {
        /// The out tensors in schema order.
        tensors: &'static [CaseTensor],
        /// Allowed `|got - expected|` is `tolerance * max(1, |expected|)`; 0 for exact.
        tolerance: f64,
    },
    /// Give exactly these outputs when the caller, not the rule, chooses their types.
    Conversion(&'static [CaseTensor]),
    /// Give exactly these outputs, whose sizes depend on the elements, within the bounds that the shape rule states.
    Bounded(&'static [CaseTensor]),
    /// Fail with this error.
    Refusal(Error),
}

impl Case {
    /// A case whose outputs are exact.
    pub const fn exact(name: &'static str, arguments: &'static [CaseArgument], tensors: &'static [CaseTensor]) -> Self {
        Self { name, arguments, expect: Expectation::Outputs { tensors, tolerance: 0.0 } }
    }

    /// A case whose outputs are within a tolerance.
    pub const fn near(
        name: &'static str,
        tolerance: f64,
        arguments: &'static [CaseArgument],
        tensors: &'static [CaseTensor],
    ) -> Self {
        Self { name, arguments, expect: Expectation::Outputs { tensors, tolerance } }
    }

    /// A case whose outputs are exact and of a type that the caller chooses.
    pub const fn converting(
        name: &'static str,
        arguments: &'static [CaseArgument],
        tensors: &'static [CaseTensor],
    ) -> Self {
        Self { name, arguments, expect: Expectation::Conversion(tensors) }
    }

    /// A case whose outputs are exact and of sizes that the elements decide.
    pub const fn bounded(
        name: &'static str,
        arguments: &'static [CaseArgument],
        tensors: &'static [CaseTensor],
    ) -> Self {
        Self { name, arguments, expect: Expectation::Bounded(tensors) }
    }

    /// A case that must be refused.
    pub const fn refused(name: &'static str, arguments: &'static [CaseArgument], error: Error) -> Self {
        Self { name, arguments, expect: Expectation::Refusal(error) }
    }
}

impl CaseTensor {
    /// A `float32` tensor.
    pub const fn float(sizes: &'static [i32], elements: &'static [f64]) -> Self {
        Self::of(ScalarType::Float, sizes, elements)
    }

    /// An `int64` tensor.
    pub const fn long(sizes: &'static [i32], elements: &'static [f64]) -> Self {
        Self::of(ScalarType::Long, sizes, elements)
    }

    /// A `bool` tensor; 0 is false.
    pub const fn bool(sizes: &'static [i32], elements: &'static [f64]) -> Self {
        Self::of(ScalarType::Bool, sizes, elements)
    }

    /// A tensor of any type.
    pub const fn of(scalar_type: ScalarType, sizes: &'static [i32], elements: &'static [f64]) -> Self {
        Self { scalar_type, sizes, elements }
    }
}
