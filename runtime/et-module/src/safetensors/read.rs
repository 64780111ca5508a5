//! Reads a file in place.

use et_core::ScalarType;

use super::json::Parser;
use super::{Error, element_type};
use crate::{Named, TensorView};

/// The name under which a header keeps text that is about the file.
pub(super) const METADATA: &str = "__metadata__";

/// The tensors of a file by name.
#[derive(Clone, Debug, Default)]
pub struct SafeTensors<'a> {
    /// The tensors.
    pub tensors: Named<TensorView<'a>>,
    /// Text about the file.
    pub metadata: Named<String>,
}

/// The header's entry of a tensor.
struct Entry {
    name: String,
    scalar_type: ScalarType,
    shape: Vec<usize>,
    start: usize,
    end: usize,
}

impl<'a> SafeTensors<'a> {
    /// Reads the header and checks the byte range of every tensor.
    pub fn parse(file: &'a [u8]) -> Result<Self, Error> {
        let (header, data) = split(file)?;
        let mut metadata = Named::new();
        let mut entries = Vec::new();
        let mut parser = Parser::new(header);
        parser.object(|parser, name| {
            // MLX writes `null` for no text.
            if name == METADATA && parser.accept_null() {
                return Ok(());
            }
            if name == METADATA {
                return parser.object(|parser, key| parser.string().map(|text| drop(metadata.insert(key, text))));
            }
            Entry::read(parser, name).map(|entry| entries.push(entry))
        })?;
        parser.end()?;
        Ok(Self { tensors: place(entries, data)?, metadata })
    }
}

/// The text of the header and the bytes behind the header.
fn split(file: &[u8]) -> Result<(&str, &[u8]), Error> {
    let (length, rest) = file.split_first_chunk().ok_or(Error::TooShort)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| Error::TooShort)?;
    let (header, data) = rest.split_at_checked(length).ok_or(Error::TooShort)?;
    let not_text = |error: std::str::Utf8Error| Error::Header { position: error.valid_up_to(), expected: "UTF-8" };
    Ok((std::str::from_utf8(header).map_err(not_text)?, data))
}

/// Cuts the data into tensors, which must fill the data without gap or overlap.
fn place(mut entries: Vec<Entry>, data: &[u8]) -> Result<Named<TensorView<'_>>, Error> {
    entries.sort_unstable_by_key(|entry| (entry.start, entry.end));
    let (mut tensors, mut position) = (Vec::with_capacity(entries.len()), 0);
    for entry in entries {
        let bytes = data.get(entry.start..entry.end).filter(|bytes| entry.start == position && entry.fits(bytes));
        let bytes = bytes.ok_or_else(|| Error::Range(entry.name.clone()))?;
        position = entry.end;
        let view = TensorView { scalar_type: entry.scalar_type, shape: entry.shape, bytes };
        tensors.push((entry.name, view));
    }
    let tensors = Named::of_entries(tensors).map_err(Error::Duplicate)?;
    if position == data.len() { Ok(tensors) } else { Err(Error::Range("behind the last one".into())) }
}

impl Entry {
    fn read(parser: &mut Parser<'_>, name: String) -> Result<Self, Error> {
        let (mut scalar_type, mut shape, mut offsets) = (None, None, None);
        parser.object(|parser, key| match key.as_str() {
            "dtype" => known(parser.string()?).map(|known| scalar_type = Some(known)),
            "shape" => parser.numbers().map(|numbers| shape = Some(numbers)),
            "data_offsets" => parser.numbers().map(|numbers| offsets = Some(numbers)),
            _ => Err(parser.error("dtype, shape or data_offsets")),
        })?;
        let missing = parser.error("dtype, shape and data_offsets");
        match (scalar_type, shape, offsets.as_deref()) {
            (Some(scalar_type), Some(shape), Some([start, end])) => {
                Ok(Self { name, scalar_type, shape, start: *start, end: *end })
            }
            _ => Err(missing),
        }
    }

    fn fits(&self, bytes: &[u8]) -> bool {
        let numel = self.shape.iter().try_fold(1_usize, |numel, size| numel.checked_mul(*size));
        numel.and_then(|numel| numel.checked_mul(self.scalar_type.size())) == Some(bytes.len())
    }
}

fn known(name: String) -> Result<ScalarType, Error> {
    element_type::from_name(&name).ok_or(Error::ElementType(name))
}
