//! The numbers of the file format: operators, types, and the fields of attributes.

/// The type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Signed, of 8 bits.
    Int8 = 3,
    /// Signed, of 16 bits.
    Int16 = 4,
    /// Signed, of 32 bits.
    Int32 = 5,
    /// Sizes, which are 64-bit integers.
    Shape = 10,
}

impl Kind {
    /// The name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Shape => "shape",
        }
    }

    /// The bytes of an element.
    pub const fn width(self) -> usize {
        match self {
            Self::Int8 => 1,
            Self::Int16 => 2,
            Self::Int32 => 4,
            Self::Shape => 8,
        }
    }

    /// The least and the greatest number of a tensor.
    pub const fn range(self) -> (i64, i64) {
        match self {
            Self::Int8 => (i8::MIN as i64, i8::MAX as i64),
            Self::Int16 => (i16::MIN as i64, i16::MAX as i64),
            Self::Int32 => (i32::MIN as i64, i32::MAX as i64),
            Self::Shape => (i64::MIN, i64::MAX),
        }
    }
}

/// An operator. Operator and attributes have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The number.
    pub number: u8,
    /// The name in text.
    pub name: &'static str,
}

const fn code(number: u8, name: &'static str) -> Code {
    Code { number, name }
}

pub const AVG_POOL2D: Code = code(2, "AVG_POOL2D");
pub const CONV2D: Code = code(3, "CONV2D");
pub const DEPTHWISE_CONV2D: Code = code(5, "DEPTHWISE_CONV2D");
pub const MAX_POOL2D: Code = code(8, "MAX_POOL2D");
pub const CLAMP: Code = code(11, "CLAMP");
pub const ADD: Code = code(15, "ADD");
pub const MAXIMUM: Code = code(26, "MAXIMUM");
pub const MUL: Code = code(28, "MUL");
pub const SUB: Code = code(30, "SUB");
pub const TABLE: Code = code(31, "TABLE");
pub const REDUCE_SUM: Code = code(54, "REDUCE_SUM");
pub const CONCAT: Code = code(55, "CONCAT");
pub const PAD: Code = code(56, "PAD");
pub const RESHAPE: Code = code(57, "RESHAPE");
pub const SLICE: Code = code(59, "SLICE");
pub const TRANSPOSE: Code = code(61, "TRANSPOSE");
pub const RESCALE: Code = code(66, "RESCALE");
pub const CONST: Code = code(67, "CONST");
pub const CONST_SHAPE: Code = code(75, "CONST_SHAPE");

/// An attribute of an operator: its position in the table of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The position in the table.
    pub slot: u16,
    /// The name in text.
    pub name: &'static str,
}

const fn field(slot: u16, name: &'static str) -> Field {
    Field { slot, name }
}

/// The attributes of CONV2D and DEPTHWISE_CONV2D.
pub mod convolution {
    use super::{Field, field};

    pub const PAD: Field = field(0, "pad");
    pub const STRIDE: Field = field(1, "stride");
    pub const DILATION: Field = field(2, "dilation");
    pub const SUM_TYPE: Field = field(4, "acc_type");
}

/// The attributes of AVG_POOL2D and MAX_POOL2D.
pub mod pool {
    use super::{Field, field};

    pub const KERNEL: Field = field(0, "kernel");
    pub const STRIDE: Field = field(1, "stride");
    pub const PAD: Field = field(2, "pad");
    /// Of AVG_POOL2D.
    pub const SUM_TYPE: Field = field(3, "acc_type");
    /// Of MAX_POOL2D.
    pub const NAN_MODE: Field = field(3, "nan_mode");
}

/// The attributes of CLAMP.
pub mod clamp {
    use super::{Field, field};

    pub const LEAST: Field = field(0, "min_val");
    pub const MOST: Field = field(1, "max_val");
    pub const NAN_MODE: Field = field(2, "nan_mode");
}

/// The attributes of RESCALE.
pub mod rescale {
    use super::{Field, field};

    pub const IS_32_BIT: Field = field(0, "scale32");
    pub const ROUNDING: Field = field(1, "rounding_mode");
    pub const PER_CHANNEL: Field = field(2, "per_channel");
    /// A product and a shift with one rounding to nearest, halves up.
    pub const SINGLE_ROUND: u32 = 1;
}

/// The axis of CONCAT and of reductions.
pub const AXIS: Field = field(0, "axis");
/// The mode for NaN of MAXIMUM.
pub const MAXIMUM_NAN_MODE: Field = field(0, "nan_mode");
/// The permutation of TRANSPOSE.
pub const PERMUTATION: Field = field(0, "perms");
/// The mode for NaN that integers need a value of, too: NaN stays.
pub const PROPAGATE: u32 = 1;

/// The slots of the tables around operators.
pub mod slot {
    pub const VERSION: [u16; 4] = [0, 1, 2, 3];
    pub const GRAPH_VERSION: u16 = 0;
    pub const GRAPH_REGIONS: u16 = 1;
    pub const REGION_NAME: u16 = 0;
    pub const REGION_BLOCKS: u16 = 1;
    pub const BLOCK_NAME: u16 = 0;
    pub const BLOCK_OPERATORS: u16 = 1;
    pub const BLOCK_TENSORS: u16 = 2;
    pub const BLOCK_INPUTS: u16 = 3;
    pub const BLOCK_OUTPUTS: u16 = 4;
    pub const BLOCK_SHAPES: u16 = 5;
    pub const OPERATOR_CODE: u16 = 0;
    pub const OPERATOR_ATTRIBUTE_TYPE: u16 = 1;
    pub const OPERATOR_ATTRIBUTE: u16 = 2;
    pub const OPERATOR_INPUTS: u16 = 3;
    pub const OPERATOR_OUTPUTS: u16 = 4;
    pub const TENSOR_NAME: u16 = 0;
    pub const TENSOR_SHAPE: u16 = 1;
    pub const TENSOR_TYPE: u16 = 2;
    pub const TENSOR_DATA: u16 = 3;
    pub const SHAPE_NAME: u16 = 0;
    pub const SHAPE_RANK: u16 = 1;
    pub const SHAPE_DATA: u16 = 2;
}

/// The identifier of files.
pub const IDENTIFIER: &str = "TOSA";
/// The version of the specification: major and minor version, patch.
pub const VERSION: [i32; 3] = [1, 0, 0];
