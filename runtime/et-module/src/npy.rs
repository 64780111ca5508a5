//! NumPy's `.npy` format: a header that is a Python dictionary, then the elements of one array.
//!
//! Specification: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>, versions 1 to 3.

use std::fmt::{Display, Formatter};
use std::io::{Result as IoResult, Write};

use et_core::ScalarType;

use crate::Array;
use crate::TensorView;

/// The first bytes of a file.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// The elements of a file begin at a multiple of this (numpy/lib/format.py).
const ALIGNMENT: usize = 64;

/// The names of element types, little-endian; the first name of a type is the one that is written.
const TYPES: [(&str, ScalarType); 13] = [
    ("<f4", ScalarType::Float),
    ("<f8", ScalarType::Double),
    ("<f2", ScalarType::Half),
    ("<i8", ScalarType::Long),
    ("<i4", ScalarType::Int),
    ("<i2", ScalarType::Short),
    ("|i1", ScalarType::Char),
    ("|u1", ScalarType::Byte),
    ("|b1", ScalarType::Bool),
    ("<c8", ScalarType::ComplexFloat),
    ("<c16", ScalarType::ComplexDouble),
    ("<i1", ScalarType::Char),
    ("<u1", ScalarType::Byte),
];

/// The mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The file ends ahead of its elements, or has more bytes than its shape.
    Size,
    /// The header is not the dictionary of the specification.
    Header,
    /// Elements of a type that this runtime does not know, or with the highest byte first.
    ElementType(String),
    /// Elements in column-major order.
    Fortran,
    /// An array of a type that the format has no name for.
    Unwritable(ScalarType),
}

impl Display for Error {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Size => formatter.write_str("the file's size does not fit its shape: is the file complete?"),
            Self::Header => formatter.write_str("the header of the NumPy file is malformed"),
            Self::ElementType(name) => {
                write!(formatter, "element type {name} is not supported; convert it with `astype`")
            }
            Self::Fortran => {
                formatter.write_str("the array is in column-major order; write `numpy.ascontiguousarray(x)`")
            }
            Self::Unwritable(scalar_type) => {
                write!(formatter, "NumPy has no type {}; write safetensors", scalar_type.name())
            }
        }
    }
}

impl std::error::Error for Error {}

/// The array in a file.
///
/// # Errors
/// Anything that makes the file no little-endian array in row-major order.
pub fn parse(file: &[u8]) -> Result<TensorView<'_>, Error> {
    let (header, bytes) = split(file)?;
    let name = text_of(header, "descr").ok_or(Error::Header)?;
    let scalar_type = TYPES.iter().find(|(known, _)| *known == name).map(|(_, scalar_type)| *scalar_type);
    let scalar_type = scalar_type.ok_or_else(|| Error::ElementType(name.to_owned()))?;
    if value_of(header, "fortran_order").ok_or(Error::Header)?.starts_with("True") {
        return Err(Error::Fortran);
    }
    let shape = shape_of(header)?;
    let count = shape.iter().try_fold(scalar_type.size(), |count, size| count.checked_mul(*size));
    if count == Some(bytes.len()) { Ok(TensorView { scalar_type, shape, bytes }) } else { Err(Error::Size) }
}

/// The dictionary of the header, and the elements.
fn split(file: &[u8]) -> Result<(&str, &[u8]), Error> {
    let rest = file.strip_prefix(MAGIC).ok_or(Error::Header)?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or(Error::Size)?;
    let (length, rest) = match version[0] {
        1 => rest.split_first_chunk().map(|(length, rest)| (usize::from(u16::from_le_bytes(*length)), rest)),
        2 | 3 => rest.split_first_chunk().map(|(length, rest)| (u32::from_le_bytes(*length) as usize, rest)),
        _ => return Err(Error::Header),
    }
    .ok_or(Error::Size)?;
    let (header, bytes) = rest.split_at_checked(length).ok_or(Error::Size)?;
    Ok((std::str::from_utf8(header).map_err(|_| Error::Header)?, bytes))
}

/// The text behind a key of the dictionary.
fn value_of<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let behind = header.split_once(&format!("'{key}':")).map(|(_, behind)| behind);
    behind.map(str::trim_start)
}

/// A value in quotation marks.
fn text_of<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    value_of(header, key)?.strip_prefix('\'')?.split_once('\'').map(|(text, _)| text)
}

fn shape_of(header: &str) -> Result<Vec<usize>, Error> {
    let tuple = value_of(header, "shape").and_then(|value| value.strip_prefix('(')?.split_once(')'));
    let (sizes, _) = tuple.ok_or(Error::Header)?;
    let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
    sizes.map(|size| size.parse().map_err(|_| Error::Header)).collect()
}

/// Writes an array as a file of version 1; equal arrays give equal bytes.
///
/// # Errors
/// As `out`; `InvalidInput` for a type without a name in NumPy (`bfloat16`).
pub fn write(array: &Array, out: &mut dyn Write) -> IoResult<()> {
    let name = TYPES.iter().find(|(_, scalar_type)| *scalar_type == array.scalar_type).map(|(name, _)| name);
    let invalid = || std::io::Error::new(std::io::ErrorKind::InvalidInput, Error::Unwritable(array.scalar_type));
    let name = name.ok_or_else(invalid)?;
    let sizes: String = array.shape.iter().map(|size| format!("{size}, ")).collect();
    let sizes = if array.shape.len() == 1 { sizes.trim_end() } else { sizes.trim_end_matches(", ") };
    let header = format!("{{'descr': '{name}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // Magic number, version and length are ten bytes; a line break ends the header.
    let length = (MAGIC.len() + 4 + header.len() + 1).next_multiple_of(ALIGNMENT) - MAGIC.len() - 4;
    let length = u16::try_from(length).map_err(|_| invalid())?;
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&length.to_le_bytes())?;
    writeln!(out, "{header:width$}", width = usize::from(length) - 1)?;
    out.write_all(&array.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `numpy.save` writes for `numpy.arange(6, dtype=dtype).reshape(shape)`, with these elements.
    fn file(header: &str, elements: &[u8]) -> Vec<u8> {
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        [MAGIC, &[1, 0], &length, header.as_bytes(), elements].concat()
    }

    #[test]
    fn an_array_is_read_with_its_type_and_shape() {
        let bytes = file("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }   \n", &[0; 12]);
        let view = parse(&bytes).unwrap();
        assert_eq!((view.scalar_type, &view.shape[..], view.bytes.len()), (ScalarType::Short, &[2, 3][..], 12));
        let scalar = file("{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", &[0; 4]);
        assert_eq!(parse(&scalar).unwrap().shape, [0; 0]);
    }

    #[test]
    fn what_is_written_reads_back_and_is_aligned() {
        for shape in [&[][..], &[4], &[2, 2], &[1, 2, 2]] {
            let elements = vec![1.5; shape.iter().product()];
            let array = Array::floats(shape, &elements).unwrap();
            let mut bytes = Vec::new();
            write(&array, &mut bytes).unwrap();
            assert_eq!(parse(&bytes), Ok(array.view()));
            assert_eq!((bytes.len() - array.bytes.len()) % ALIGNMENT, 0);
        }
        let half = Array { scalar_type: ScalarType::BFloat16, shape: vec![1], bytes: vec![0; 2] };
        assert!(write(&half, &mut Vec::new()).is_err());
    }

    #[test]
    fn malformed_files_are_errors() {
        let header =
            |descr: &str, order: &str| format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': (2,), }}");
        let parsed = |header: &str, bytes: &[u8]| parse(&file(header, bytes)).map(|view| view.shape);
        assert_eq!(parsed(&header("<f4", "False"), &[0; 8]), Ok(vec![2]));
        assert_eq!(parsed(&header("<f4", "False"), &[0; 7]), Err(Error::Size));
        assert_eq!(parsed(&header(">f4", "False"), &[0; 8]), Err(Error::ElementType(">f4".into())));
        assert_eq!(parsed(&header("<f4", "True"), &[0; 8]), Err(Error::Fortran));
        assert_eq!(
            parsed("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", &[]),
            Err(Error::Header)
        );
        assert_eq!(
            parsed("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", &[]),
            Err(Error::Size)
        );
        assert_eq!(parsed("{}", &[]), Err(Error::Header));
        assert_eq!(parse(b"\x93NUMPY\x01"), Err(Error::Size));
        assert_eq!(parse(b"\x93NUMPY\x09\x00\x00\x00"), Err(Error::Header));
    }
}
