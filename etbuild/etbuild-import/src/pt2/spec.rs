//! Types and shapes in the terms of the export schema.

use et_core::{MAX_RANK, ScalarType};
use etbuild_ir::{Interval, SymbolicSize, TensorSpec};

use super::model::{SymInt, TensorMeta};
use super::symbol::Symbols;
use crate::ImportError;

/// The largest number of bytes of a tensor: the address space of every host.
const LARGEST: u64 = 1 << 47;

/// Type and shape of a tensor, and the layout of the elements in the storage.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Type and shape, row-major whatever the strides.
    pub spec: TensorSpec,
    /// The distance between neighbours along each dimension, in elements.
    pub strides: Vec<i64>,
    /// The index of the first element in the storage.
    pub offset: i64,
    /// The symbol of each dynamic size that is linear in a symbol; empty for static sizes.
    pub symbolic: Vec<Option<SymbolicSize>>,
}

impl Layout {
    /// Reads the layout of the value `name`.
    pub fn read(name: &str, meta: &TensorMeta, symbols: &Symbols) -> Result<Self, ImportError> {
        let scalar_type =
            scalar_type(meta.dtype).ok_or(ImportError::ScalarType { value: name.to_owned(), number: meta.dtype })?;
        let range = |size: &SymInt| range(size, symbols).ok_or_else(|| ImportError::DynamicShape(name.to_owned()));
        let ranges = meta.sizes.iter().map(range).collect::<Result<Vec<_>, _>>()?;
        if ranges.iter().any(|range| range.most == i64::MAX) {
            return Err(ImportError::Unbounded(name.to_owned()));
        }
        let strides = meta.strides.iter().map(|stride| range(stride).map(|range| range.most));
        let strides = strides.collect::<Result<Vec<_>, _>>()?;
        let possible = strides.len() == ranges.len() && ranges.len() <= MAX_RANK;
        let spec = possible.then(|| checked_spec(&ranges, scalar_type)).flatten();
        let spec = spec.ok_or_else(|| ImportError::Shape(name.to_owned()))?;
        let symbolic: Vec<_> = meta.sizes.iter().map(|size| linear(size, symbols)).collect();
        let symbolic = if symbolic.iter().any(Option::is_some) { symbolic } else { Vec::new() };
        Ok(Self { spec, strides, offset: range(&meta.storage_offset)?.least, symbolic })
    }

    /// Whether the elements are row-major without gaps.
    pub fn is_row_major(&self) -> bool {
        let mut expected = 1;
        self.spec.sizes.iter().zip(&self.strides).rev().all(|(size, stride)| {
            let fits = *size <= 1 || *stride == expected;
            expected = expected.saturating_mul(i64::from(*size));
            fits
        })
    }
}

/// The range of a size.
pub fn range(size: &SymInt, symbols: &Symbols) -> Option<Interval> {
    match size {
        SymInt::Int(value) => Some(Interval { least: *value, most: *value }),
        SymInt::Expression(expression) => symbols.range(&expression.expr_str),
        SymInt::Name(_) => None,
    }
}

fn linear(size: &SymInt, symbols: &Symbols) -> Option<SymbolicSize> {
    match size {
        SymInt::Expression(expression) => symbols.linear(&expression.expr_str),
        SymInt::Int(_) | SymInt::Name(_) => None,
    }
}

fn checked_spec(ranges: &[Interval], scalar_type: ScalarType) -> Option<TensorSpec> {
    let mut bytes = scalar_type.size() as u64;
    for range in ranges {
        bytes = bytes.checked_mul(u64::try_from(range.most).ok()?.max(1)).filter(|bytes| *bytes <= LARGEST)?;
    }
    let sizes: Option<Vec<i32>> = ranges.iter().map(|range| i32::try_from(range.most).ok()).collect();
    let least: Option<Vec<i32>> = ranges.iter().map(|range| i32::try_from(range.least.max(0)).ok()).collect();
    Some(TensorSpec::contiguous(scalar_type, sizes?).with_least(least?))
}

/// The scalar type with this number in the export schema. Program files use other numbers.
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
