//! The types of numbers in kernels.

use et_core::ScalarType;

/// The type of a number within a kernel. Narrow integers are computed in 32 bits, fp16 and bf16 in fp32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `f32`.
    Float,
    /// `f64`.
    Double,
    /// `i32`.
    Int,
    /// `i64`.
    Long,
    /// `bool`.
    Bool,
}

impl Type {
    /// The type that elements are computed in; `None` for complex numbers.
    pub const fn of(scalar_type: ScalarType) -> Option<Self> {
        match scalar_type {
            ScalarType::Half | ScalarType::BFloat16 | ScalarType::Float => Some(Self::Float),
            ScalarType::Double => Some(Self::Double),
            ScalarType::Byte | ScalarType::Char | ScalarType::Short | ScalarType::Int => Some(Self::Int),
            ScalarType::Long => Some(Self::Long),
            ScalarType::Bool => Some(Self::Bool),
            ScalarType::ComplexFloat | ScalarType::ComplexDouble => None,
        }
    }

    /// The type of elements that hold every number of this type.
    pub const fn scalar_type(self) -> ScalarType {
        match self {
            Self::Float => ScalarType::Float,
            Self::Double => ScalarType::Double,
            Self::Int => ScalarType::Int,
            Self::Long => ScalarType::Long,
            Self::Bool => ScalarType::Bool,
        }
    }

    /// The name of the type in WGSL.
    pub const fn wgsl(self) -> &'static str {
        match self {
            Self::Float => "f32",
            Self::Double => "f64",
            Self::Int => "i32",
            Self::Long => "i64",
            Self::Bool => "bool",
        }
    }

    /// Whether the type is of floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }
}

/// A constant number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// The bits of an `f32`.
    Float(u32),
    /// The bits of an `f64`.
    Double(u64),
    /// An `i32`.
    Int(i32),
    /// An `i64`.
    Long(i64),
    /// A `bool`.
    Bool(bool),
}

impl Literal {
    /// A number as a type, converted as C++ does.
    pub fn new(number: f64, ty: Type) -> Self {
        match ty {
            Type::Float => Self::Float((number as f32).to_bits()),
            Type::Double => Self::Double(number.to_bits()),
            Type::Int => Self::Int(number as i64 as i32),
            Type::Long => Self::Long(number as i64),
            Type::Bool => Self::Bool(number != 0.0),
        }
    }

    /// The type.
    pub const fn ty(self) -> Type {
        match self {
            Self::Float(_) => Type::Float,
            Self::Double(_) => Type::Double,
            Self::Int(_) => Type::Int,
            Self::Long(_) => Type::Long,
            Self::Bool(_) => Type::Bool,
        }
    }

    /// The number in WGSL. Numbers that WGSL has no literal for are made of their bits at run time.
    pub fn wgsl(self) -> String {
        match self {
            Self::Float(bits) => match f32::from_bits(bits) {
                number if number.is_finite() => format!("{number:?}f"),
                _ => format!("of_bits({bits}u)"),
            },
            Self::Double(bits) => match f64::from_bits(bits) {
                number if number.is_finite() => format!("{number:?}lf"),
                number => format!("f64(of_bits({}u))", (number as f32).to_bits()),
            },
            Self::Int(i32::MIN) => "(-2147483647i - 1i)".to_owned(),
            Self::Int(number) => format!("{number}i"),
            Self::Long(i64::MIN) => "(-9223372036854775807li - 1li)".to_owned(),
            Self::Long(number) => format!("{number}li"),
            Self::Bool(flag) => flag.to_string(),
        }
    }
}
