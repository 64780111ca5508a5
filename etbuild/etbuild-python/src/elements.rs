//! The names of element types in buffers, DLPack and NumPy.

use et_core::ScalarType;

use crate::dlpack::DataType;

/// Codes of DLPack's `DLDataTypeCode`.
const INT: u8 = 0;
const UINT: u8 = 1;
const FLOAT: u8 = 2;
const BFLOAT: u8 = 4;
const COMPLEX: u8 = 5;
const BOOL: u8 = 6;

/// The type of a buffer's elements, by its format in the notation of Python's `struct` and the size of an element in bytes.
pub fn of_format(format: &[u8], size: usize) -> Option<ScalarType> {
    let code = match format {
        // Native or little-endian; both are the same here.
        [b'@' | b'=' | b'<', code @ ..] => code,
        code => code,
    };
    Some(match (code, size) {
        (b"?", 1) => ScalarType::Bool,
        (b"B", 1) => ScalarType::Byte,
        (b"b", 1) => ScalarType::Char,
        (b"h", 2) => ScalarType::Short,
        (b"i" | b"l", 4) => ScalarType::Int,
        (b"l" | b"q", 8) => ScalarType::Long,
        (b"e", 2) => ScalarType::Half,
        (b"f", 4) => ScalarType::Float,
        (b"d", 8) => ScalarType::Double,
        (b"Zf", 8) => ScalarType::ComplexFloat,
        (b"Zd", 16) => ScalarType::ComplexDouble,
        _ => return None,
    })
}

/// The format of a buffer with these elements; `None` for `bfloat16`, which the notation does not have.
pub const fn format(scalar_type: ScalarType) -> Option<&'static std::ffi::CStr> {
    Some(match scalar_type {
        ScalarType::Bool => c"?",
        ScalarType::Byte => c"B",
        ScalarType::Char => c"b",
        ScalarType::Short => c"h",
        ScalarType::Int => c"i",
        ScalarType::Long => c"q",
        ScalarType::Half => c"e",
        ScalarType::Float => c"f",
        ScalarType::Double => c"d",
        ScalarType::ComplexFloat => c"Zf",
        ScalarType::ComplexDouble => c"Zd",
        ScalarType::BFloat16 => return None,
    })
}

/// The type of DLPack's elements.
pub const fn of_dlpack(data_type: DataType) -> Option<ScalarType> {
    Some(match (data_type.code, data_type.bits, data_type.lanes) {
        (BOOL, 8, 1) => ScalarType::Bool,
        (UINT, 8, 1) => ScalarType::Byte,
        (INT, 8, 1) => ScalarType::Char,
        (INT, 16, 1) => ScalarType::Short,
        (INT, 32, 1) => ScalarType::Int,
        (INT, 64, 1) => ScalarType::Long,
        (FLOAT, 16, 1) => ScalarType::Half,
        (FLOAT, 32, 1) => ScalarType::Float,
        (FLOAT, 64, 1) => ScalarType::Double,
        (BFLOAT, 16, 1) => ScalarType::BFloat16,
        (COMPLEX, 64, 1) => ScalarType::ComplexFloat,
        (COMPLEX, 128, 1) => ScalarType::ComplexDouble,
        _ => return None,
    })
}

/// The type for DLPack.
pub const fn to_dlpack(scalar_type: ScalarType) -> DataType {
    let code = match scalar_type {
        ScalarType::Bool => BOOL,
        ScalarType::Byte => UINT,
        ScalarType::Char | ScalarType::Short | ScalarType::Int | ScalarType::Long => INT,
        ScalarType::Half | ScalarType::Float | ScalarType::Double => FLOAT,
        ScalarType::BFloat16 => BFLOAT,
        ScalarType::ComplexFloat | ScalarType::ComplexDouble => COMPLEX,
    };
    DataType { code, bits: 8 * scalar_type.size() as u8, lanes: 1 }
}
