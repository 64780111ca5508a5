//! The globals that a dictionary of tensors needs: constructors and types of storages. Others are refused where the pickle names them.

use et_core::ScalarType;

/// A known global.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Global {
    /// `collections.OrderedDict`, made empty.
    Dictionary,
    /// A tensor of a storage, an offset, sizes and strides.
    Tensor,
    /// A parameter of a tensor.
    Parameter,
    /// The type of a storage.
    Storage(ScalarType),
}

/// The globals by module and name.
const GLOBALS: [(&str, &str, Global); 13] = [
    ("collections", "OrderedDict", Global::Dictionary),
    ("torch._utils", "_rebuild_tensor_v2", Global::Tensor),
    ("torch._utils", "_rebuild_parameter", Global::Parameter),
    ("torch", "FloatStorage", Global::Storage(ScalarType::Float)),
    ("torch", "HalfStorage", Global::Storage(ScalarType::Half)),
    ("torch", "BFloat16Storage", Global::Storage(ScalarType::BFloat16)),
    ("torch", "DoubleStorage", Global::Storage(ScalarType::Double)),
    ("torch", "LongStorage", Global::Storage(ScalarType::Long)),
    ("torch", "IntStorage", Global::Storage(ScalarType::Int)),
    ("torch", "ShortStorage", Global::Storage(ScalarType::Short)),
    ("torch", "CharStorage", Global::Storage(ScalarType::Char)),
    ("torch", "ByteStorage", Global::Storage(ScalarType::Byte)),
    ("torch", "BoolStorage", Global::Storage(ScalarType::Bool)),
];

/// The global of a name in a module.
pub fn find(module: &str, name: &str) -> Option<Global> {
    GLOBALS.iter().find(|(of, known, _)| *of == module && *known == name).map(|(_, _, global)| *global)
}
