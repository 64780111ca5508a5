//! The globals that a dictionary of tensors needs: constructors, types of storages and of elements, and the classes of torchao, which are names
//! here. Others are refused where the pickle names them.

use et_core::ScalarType;

/// A known global.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Global {
    /// `collections.OrderedDict`, made empty.
    Dictionary,
    /// A tensor of a storage, an offset, sizes and strides.
    Tensor,
    /// A tensor of a storage of bytes, of elements of a type that no storage has.
    TensorOfType,
    /// A parameter of a tensor.
    Parameter,
    /// A tensor of a class, with attributes.
    Instance,
    /// The tensor without elements of which an instance is made.
    Wrapper,
    /// What tensors of a class state and nothing reads: a device or a layout.
    Unread,
    /// A type of elements.
    Type(&'static str),
    /// The type of a storage.
    Storage(ScalarType),
}

/// The globals by module and name.
const GLOBALS: [(&str, &str, Global); 19] = [
    ("collections", "OrderedDict", Global::Dictionary),
    ("torch._utils", "_rebuild_tensor_v2", Global::Tensor),
    ("torch._utils", "_rebuild_tensor_v3", Global::TensorOfType),
    ("torch._utils", "_rebuild_parameter", Global::Parameter),
    ("torch._tensor", "_rebuild_from_type_v2", Global::Instance),
    ("torch._utils", "_rebuild_wrapper_subclass", Global::Wrapper),
    ("torch.serialization", "_get_layout", Global::Unread),
    ("torch", "device", Global::Unread),
    ("torch.storage", "UntypedStorage", Global::Storage(ScalarType::Byte)),
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

/// The types of elements, in the module `torch`.
const TYPES: [&str; 13] =
    [E4M3, "bfloat16", "float16", "float32", "int1", "int2", "int3", "int4", "int5", "int6", "int7", "int8", "uint8"];

/// The type of numbers of 8 bits, which are bytes here.
pub const E4M3: &str = "float8_e4m3fn";

/// The package of the classes that are names.
const CLASSES: &str = "torchao";

/// Whether a module is one of the package of the classes.
pub fn has_classes(module: &str) -> bool {
    module.split('.').next() == Some(CLASSES)
}

/// The global of a name in a module.
pub fn find(module: &str, name: &str) -> Option<Global> {
    let found = GLOBALS.iter().find(|(of, known, _)| *of == module && *known == name).map(|(_, _, global)| *global);
    let of_elements = || TYPES.iter().find(|known| module == "torch" && **known == name).map(|name| Global::Type(name));
    found.or_else(of_elements)
}
