//! The definition of an operator: schema, dtypes, shape rule, kernel and cases.

use et_core::{Args, Dtypes, Kernel, Result, ScalarType, Shape};

use crate::Case;

/// All scalar types, as a kernel's const argument.
pub const ALL: u32 = Dtypes::STORED.0;

/// The shape rule: dtype and shape of output `index`, from the arguments. A rule reads shapes and numbers, never tensor
/// elements.
///
/// The out arguments hold the caller's wishes: a tensor spec, or `None` to follow the rule. A rule reads from the out
/// arguments the choices that an operator leaves to the caller: the dtype of a conversion, the number of tensors in a
/// list, or a tighter bound of a size that depends on the elements.
pub type Infer = fn(args: &Args<'_, '_>, index: usize) -> Result<Meta>;

/// The dtype and shape of a tensor that has no memory yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The shape.
    pub shape: Shape,
}

/// Where a kernel stores its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outs {
    /// In this number of out tensors.
    Tensors(usize),
    /// In the tensors of a list, whose length the caller chooses.
    List,
    /// In the first argument, which is the only output (an in-place operator).
    FirstArgument,
}

/// An operator of the catalogue.
#[derive(Debug)]
pub struct Operator {
    /// The schema of the out-variant, as ExecuTorch registers it:
    /// `aten::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)`. The schema names every argument in order; its
    /// alias annotations mark the outputs.
    pub schema: &'static str,
    /// The functional operator of ATen or Edge that this is the out-variant of, without `.default`: `aten::relu`.
    pub functional: &'static str,
    /// The path of the kernel in Rust, generic over the bits of a [`Dtypes`]: `et_ops::activations::relu::out`.
    pub path: &'static str,
    /// The types that tensors among the arguments may have.
    pub dtypes: Dtypes,
    /// The rule for output types and shapes.
    pub infer: Infer,
    /// The portable kernel for all types.
    pub kernel: Kernel,
    /// Inputs with PyTorch's outputs.
    pub cases: &'static [Case],
}

impl Operator {
    /// The registered name: the schema without the argument list.
    pub fn name(&self) -> &'static str {
        self.schema.split_once('(').map_or(self.schema, |(name, _)| name)
    }

    /// Whether the outputs are random numbers, ATen's tag `nondeterministic_seeded`: equal operands do not mean equal
    /// outputs.
    pub fn is_random(&self) -> bool {
        matches!(self.functional, "aten::rand" | "aten::randn")
    }

    /// Where a kernel of this operator stores its outputs.
    pub fn outs(&self) -> Outs {
        let arguments = self.argument_list();
        // Arguments before the star may be written too, but are not outputs of the call.
        let outs = arguments.rsplit_once('*').map_or("", |(_, outs)| outs);
        match outs.matches("!)").count() {
            _ if arguments.starts_with("Tensor(a!) ") => Outs::FirstArgument,
            _ if outs.contains("!)[]") => Outs::List,
            count => Outs::Tensors(count),
        }
    }

    /// The number of arguments that are not only written.
    pub fn in_count(&self) -> usize {
        let all = split_arguments(self.argument_list()).filter(|argument| *argument != "*").count();
        match self.outs() {
            Outs::Tensors(count) => all - count,
            Outs::List => all - 1,
            Outs::FirstArgument => all,
        }
    }

    fn argument_list(&self) -> &'static str {
        let arguments = self.schema.split_once('(').map_or("", |(_, rest)| rest);
        arguments.rsplit_once(") ->").map_or(arguments, |(arguments, _)| arguments)
    }
}

impl Outs {
    /// The number of outputs; `None` if the caller chooses the number.
    pub const fn count(self) -> Option<usize> {
        match self {
            Self::Tensors(count) => Some(count),
            Self::List => None,
            Self::FirstArgument => Some(1),
        }
    }
}

/// Splits at commas outside brackets.
fn split_arguments(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    list.split(move |character| {
        depth += i32::from(matches!(character, '(' | '[')) - i32::from(matches!(character, ')' | ']'));
        character == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|argument| !argument.is_empty())
}

/// The path of a kernel of this module, in the form of [`Operator::path`].
macro_rules! kernel_path {
    ($kernel:ident) => {
        concat!(module_path!(), "::", stringify!($kernel))
    };
}
pub(crate) use kernel_path;

/// Runs `body` with `T` bound to the Rust type of a scalar type, if the scalar type is both in the named group and
/// selected.
///
/// `dispatch!(D, scalar_type, floats, T => body::<T>(..))`; the groups are `floats`, `precise` (floats of at least 32 bits), `integers`, `numbers`, `all`, and
/// with complex numbers `stored`; for `complex`, `T` is the type of the real and imaginary parts. Since `D` is a
/// constant, dtypes that are not selected are not compiled into firmware (selective build). Public for the kernels of custom operators,
/// which name `et_core` as a dependency too.
#[macro_export]
macro_rules! dispatch {
    ($selected:ident, $scalar_type:expr, floats, $T:ident => $body:expr) => {
        $crate::dispatch!(@ $selected, $scalar_type, $T, $body,
            Half: et_core::Half, Float: f32, Double: f64, BFloat16: et_core::BFloat16)
    };
    ($selected:ident, $scalar_type:expr, precise, $T:ident => $body:expr) => {
        $crate::dispatch!(@ $selected, $scalar_type, $T, $body, Float: f32, Double: f64)
    };
    ($selected:ident, $scalar_type:expr, integers, $T:ident => $body:expr) => {
        $crate::dispatch!(@ $selected, $scalar_type, $T, $body,
            Byte: u8, Char: i8, Short: i16, Int: i32, Long: i64)
    };
    ($selected:ident, $scalar_type:expr, numbers, $T:ident => $body:expr) => {
        $crate::dispatch!(@ $selected, $scalar_type, $T, $body,
            Byte: u8, Char: i8, Short: i16, Int: i32, Long: i64,
            Half: et_core::Half, Float: f32, Double: f64, BFloat16: et_core::BFloat16)
    };
    ($selected:ident, $scalar_type:expr, all, $T:ident => $body:expr) => {
        $crate::dispatch!(@ $selected, $scalar_type, $T, $body,
            Byte: u8, Char: i8, Short: i16, Int: i32, Long: i64, Bool: bool,
            Half: et_core::Half, Float: f32, Double: f64, BFloat16: et_core::BFloat16)
    };
    ($selected:ident, $scalar_type:expr, stored, $T:ident => $body:expr) => {
        $crate::dispatch!(@ $selected, $scalar_type, $T, $body,
            Byte: u8, Char: i8, Short: i16, Int: i32, Long: i64, Bool: bool,
            Half: et_core::Half, Float: f32, Double: f64, BFloat16: et_core::BFloat16,
            ComplexFloat: et_core::Complex<f32>, ComplexDouble: et_core::Complex<f64>)
    };
    ($selected:ident, $scalar_type:expr, complex, $Part:ident => $body:expr) => {
        $crate::dispatch!(@ $selected, $scalar_type, $Part, $body, ComplexFloat: f32, ComplexDouble: f64)
    };
    (@ $selected:ident, $scalar_type:expr, $T:ident, $body:expr, $($name:ident: $type:ty),*) => {
        match $scalar_type {
            $(et_core::ScalarType::$name
                if const { et_core::Dtypes($selected).contains(et_core::ScalarType::$name) } =>
            {
                type $T = $type;
                $body
            })*
            _ => Err(et_core::Error::InvalidType),
        }
    };
}
pub(crate) use crate::dispatch;

#[cfg(test)]
mod tests {
    use super::Outs;
    use crate::OPERATORS;

    #[test]
    fn arguments_are_counted_from_the_schema() {
        let add = crate::find("aten::add.out").unwrap();
        assert_eq!((add.in_count(), add.outs()), (3, Outs::Tensors(1)));
    }

    #[test]
    fn the_schema_says_where_outputs_go() {
        let [split, copy] = ["aten::split_copy.Tensor_out", "aten::copy_"].map(|name| crate::find(name).unwrap());
        assert_eq!((split.in_count(), split.outs()), (3, Outs::List));
        assert_eq!((copy.in_count(), copy.outs()), (3, Outs::FirstArgument));
    }

    #[test]
    fn paths_name_the_module_of_the_file() {
        for operator in OPERATORS {
            assert!(operator.path.starts_with("et_ops::"), "{}", operator.path);
        }
    }
}
