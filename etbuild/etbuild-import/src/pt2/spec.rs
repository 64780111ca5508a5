//! Types and shapes in the export schema's terms.

use et_core::{MAX_RANK, ScalarType};
use etbuild_ir::TensorSpec;

use super::model::{SymInt, TensorMeta};
use crate::ImportError;

/// The number of bytes that a tensor can have: what every host can address.
const LARGEST: u64 = 1 << 47;

/// Type and shape of a tensor, and how its elements lie in its storage.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Type and shape, row-major whatever the strides.
    pub spec: TensorSpec,
    /// The distance between neighbours along each dimension, in elements.
    pub strides: Vec<i64>,
    /// The first element.
    pub offset: i64,
}

impl Layout {
    /// Reads the layout of the value called `name`.
    pub fn read(name: &str, meta: &TensorMeta) -> Result<Self, ImportError> {
        let scalar_type =
            scalar_type(meta.dtype).ok_or(ImportError::ScalarType { value: name.to_owned(), number: meta.dtype })?;
        let fixed = |size: &SymInt| fixed(size).ok_or_else(|| ImportError::DynamicShape(name.to_owned()));
        let sizes = meta.sizes.iter().map(fixed).collect::<Result<Vec<_>, _>>()?;
        let strides = meta.strides.iter().map(fixed).collect::<Result<Vec<_>, _>>()?;
        let possible = strides.len() == sizes.len() && sizes.len() <= MAX_RANK;
        let sizes = possible.then(|| checked_sizes(&sizes, scalar_type)).flatten();
        let sizes = sizes.ok_or_else(|| ImportError::Shape(name.to_owned()))?;
        Ok(Self { spec: TensorSpec::contiguous(scalar_type, sizes), strides, offset: fixed(&meta.storage_offset)? })
    }

    /// Whether the elements lie in row-major order without gaps.
    pub fn is_row_major(&self) -> bool {
        let mut expected = 1;
        self.spec.sizes.iter().zip(&self.strides).rev().all(|(size, stride)| {
            let fits = *size <= 1 || *stride == expected;
            expected = expected.saturating_mul(i64::from(*size));
            fits
        })
    }
}

const fn fixed(size: &SymInt) -> Option<i64> {
    match size {
        SymInt::Int(value) => Some(*value),
        SymInt::Symbolic(_) => None,
    }
}

fn checked_sizes(sizes: &[i64], scalar_type: ScalarType) -> Option<Vec<i32>> {
    let mut bytes = scalar_type.size() as u64;
    for size in sizes {
        bytes = bytes.checked_mul(u64::try_from(*size).ok()?.max(1)).filter(|bytes| *bytes <= LARGEST)?;
    }
    sizes.iter().map(|size| i32::try_from(*size).ok()).collect()
}

/// The type with this number in the export schema, which counts otherwise than program files do.
pub const fn scalar_type(number: i64) -> Option<ScalarType> {
    Some(match number {
        1 => ScalarType::Byte,
        2 => ScalarType::Char,
        3 => ScalarType::Short,
        4 => ScalarType::Int,
        5 => ScalarType::Long,
        6 => ScalarType::Half,
        7 => ScalarType::Float,
        8 => ScalarType::Double,
        10 => ScalarType::ComplexFloat,
        11 => ScalarType::ComplexDouble,
        12 => ScalarType::Bool,
        13 => ScalarType::BFloat16,
        _ => return None,
    })
}
