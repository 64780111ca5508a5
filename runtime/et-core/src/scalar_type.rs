//! Element types, numbered as in ExecuTorch's `schema/scalar_type.fbs`, and sets of element types.

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ScalarType {
    /// Unsigned 8-bit integer (`torch.uint8`).
    Byte = 0,
    /// Signed 8-bit integer (`torch.int8`).
    Char = 1,
    /// Signed 16-bit integer (`torch.int16`).
    Short = 2,
    /// Signed 32-bit integer (`torch.int32`).
    Int = 3,
    /// Signed 64-bit integer (`torch.int64`).
    Long = 4,
    /// IEEE 754 binary16 (`torch.float16`).
    Half = 5,
    /// IEEE 754 binary32 (`torch.float32`).
    Float = 6,
    /// IEEE 754 binary64 (`torch.float64`).
    Double = 7,
    /// Two binary32, the real and the imaginary part (`torch.complex64`).
    ComplexFloat = 9,
    /// Two binary64, the real and the imaginary part (`torch.complex128`).
    ComplexDouble = 10,
    /// A byte that is 0 or 1 (`torch.bool`).
    Bool = 11,
    /// The upper half of a binary32 (`torch.bfloat16`).
    BFloat16 = 15,
}

impl ScalarType {
    /// Every type that this runtime knows, in the order of their numbers.
    pub const ALL: [Self; 12] = [
        Self::Byte,
        Self::Char,
        Self::Short,
        Self::Int,
        Self::Long,
        Self::Half,
        Self::Float,
        Self::Double,
        Self::ComplexFloat,
        Self::ComplexDouble,
        Self::Bool,
        Self::BFloat16,
    ];

    /// The type with this number in a program file.
    pub const fn from_number(number: u8) -> Option<Self> {
        let mut index = 0;
        while index < Self::ALL.len() {
            if Self::ALL[index] as u8 == number {
                return Some(Self::ALL[index]);
            }
            index += 1;
        }
        None
    }

    /// Bytes per element.
    pub const fn size(self) -> usize {
        match self {
            Self::Byte | Self::Char | Self::Bool => 1,
            Self::Short | Self::Half | Self::BFloat16 => 2,
            Self::Int | Self::Float => 4,
            Self::Long | Self::Double | Self::ComplexFloat => 8,
            Self::ComplexDouble => 16,
        }
    }

    /// Whether elements are floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Half | Self::Float | Self::Double | Self::BFloat16)
    }

    /// Whether elements are complex numbers.
    pub const fn is_complex(self) -> bool {
        matches!(self, Self::ComplexFloat | Self::ComplexDouble)
    }

    /// Whether elements are integers; booleans are not.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::Byte | Self::Char | Self::Short | Self::Int | Self::Long)
    }

    /// The name in PyTorch, such as `float32`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Byte => "uint8",
            Self::Char => "int8",
            Self::Short => "int16",
            Self::Int => "int32",
            Self::Long => "int64",
            Self::Half => "float16",
            Self::Float => "float32",
            Self::Double => "float64",
            Self::ComplexFloat => "complex64",
            Self::ComplexDouble => "complex128",
            Self::Bool => "bool",
            Self::BFloat16 => "bfloat16",
        }
    }

    /// The type with this PyTorch name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scalar_type| scalar_type.name() == name)
    }

    /// The type of an operation on tensors of two types, both of rank 1 or more (`torch.promote_types`).
    pub const fn promote(self, other: Self) -> Self {
        use ScalarType::{BFloat16, Bool, Byte, ComplexDouble, ComplexFloat, Double, Float, Half};
        match (self, other) {
            (ComplexDouble, _) | (_, ComplexDouble) | (ComplexFloat, Double) | (Double, ComplexFloat) => ComplexDouble,
            (ComplexFloat, _) | (_, ComplexFloat) => ComplexFloat,
            (Half, BFloat16) | (BFloat16, Half) => Float,
            (Bool, other) => other,
            (this, Bool) => this,
            (Byte, other) if other.is_integer() => signed_with_room_for_byte(other),
            (this, Byte) if this.is_integer() => signed_with_room_for_byte(this),
            (this, other) if this.is_float() != other.is_float() => {
                if this.is_float() {
                    this
                } else {
                    other
                }
            }
            (this, other) => wider(this, other),
        }
    }
}

/// Promotion of uint8 with a signed type: int16 for int8; a wider signed type stays.
const fn signed_with_room_for_byte(other: ScalarType) -> ScalarType {
    match other {
        ScalarType::Char => ScalarType::Short,
        _ => other,
    }
}

/// The larger of two types of a category; the numbers of types ascend with size within a category.
const fn wider(this: ScalarType, other: ScalarType) -> ScalarType {
    if this.size() >= other.size() { this } else { other }
}

/// A set of scalar types; its bits can be a const generic argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Dtypes(pub u32);

impl Dtypes {
    /// No type.
    pub const NONE: Self = Self(0);
    /// Every type that operators compute with: all but complex numbers.
    pub const ALL: Self = Self::NUMBERS.with(ScalarType::Bool);
    /// Every type that operators move.
    pub const STORED: Self = Self::of(&ScalarType::ALL);
    /// Complex numbers.
    pub const COMPLEX: Self = Self::of(&[ScalarType::ComplexFloat, ScalarType::ComplexDouble]);
    /// All floating-point types.
    pub const FLOATS: Self = Self::of(&[ScalarType::Half, ScalarType::Float, ScalarType::Double, ScalarType::BFloat16]);
    /// All integer types.
    pub const INTEGERS: Self =
        Self::of(&[ScalarType::Byte, ScalarType::Char, ScalarType::Short, ScalarType::Int, ScalarType::Long]);
    /// Integers and floating-point numbers, not booleans.
    pub const NUMBERS: Self = Self(Self::FLOATS.0 | Self::INTEGERS.0);

    /// The set of these types.
    pub const fn of(types: &[ScalarType]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < types.len() {
            bits |= 1 << types[index] as u32;
            index += 1;
        }
        Self(bits)
    }

    /// Whether `scalar_type` is in the set.
    pub const fn contains(self, scalar_type: ScalarType) -> bool {
        self.0 & (1 << scalar_type as u32) != 0
    }

    /// The set with the given type added.
    #[must_use]
    pub const fn with(self, scalar_type: ScalarType) -> Self {
        Self(self.0 | 1 << scalar_type as u32)
    }

    /// The types of the set, in the order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = ScalarType> {
        ScalarType::ALL.into_iter().filter(move |scalar_type| self.contains(*scalar_type))
    }
}

#[cfg(test)]
mod tests {
    use super::ScalarType::{
        self, BFloat16, Bool, Byte, Char, ComplexDouble, ComplexFloat, Double, Float, Half, Int, Long, Short,
    };

    #[test]
    fn promotion_equals_torch() {
        let expected = [
            (Bool, Byte, Byte),
            (Byte, Char, Short),
            (Byte, Int, Int),
            (Short, Byte, Short),
            (Int, Long, Long),
            (Long, Half, Half),
            (Half, BFloat16, Float),
            (Float, Half, Float),
            (Double, Float, Double),
            (BFloat16, Long, BFloat16),
            (ComplexFloat, Half, ComplexFloat),
            (ComplexFloat, Double, ComplexDouble),
            (ComplexDouble, ComplexFloat, ComplexDouble),
        ];
        for (left, right, result) in expected {
            assert_eq!(left.promote(right), result, "{left:?} {right:?}");
            assert_eq!(right.promote(left), result, "{right:?} {left:?}");
        }
    }

    #[test]
    fn numbers_round_trip() {
        for scalar_type in ScalarType::ALL {
            assert_eq!(ScalarType::from_number(scalar_type as u8), Some(scalar_type));
        }
        assert_eq!(ScalarType::from_number(8), None);
    }
}
