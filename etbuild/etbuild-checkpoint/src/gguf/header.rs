//! The header of a GGUF file: metadata, and where the tensors lie.
//!
//! Specification: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>, versions 2 and 3, little-endian.

use std::collections::BTreeSet;

use etbuild_weights::gguf::{self, Format};

use super::reader::{Mistake, Reader};
use super::value::Metadata;

/// The first bytes of a file.
pub const MAGIC: &[u8] = b"GGUF";

/// The most dimensions of a tensor.
const RANK: u32 = 4;
/// The alignment of tensors where the metadata states none.
const ALIGNMENT: u64 = 32;
/// The least bytes of a key with its value, and of the description of a tensor.
const LEAST: [usize; 2] = [13, 24];

/// A tensor of a file.
#[derive(Debug)]
pub struct Place {
    /// The name.
    pub name: String,
    /// The sizes, rows first.
    pub shape: Vec<usize>,
    /// The form of the elements.
    pub format: &'static Format,
    /// Where in the file the elements begin.
    pub start: usize,
}

/// A header.
#[derive(Debug)]
pub struct Header {
    /// The metadata.
    pub metadata: Metadata,
    /// The tensors.
    pub places: Vec<Place>,
}

/// Reads the header of a file.
///
/// # Errors
/// The mistake in the file, as the end of a sentence.
pub fn read(file: &[u8]) -> Result<Header, Mistake> {
    let mut reader = Reader::new(file);
    let (metadata, described) = fields(&mut reader)?;
    let places = place(described, data_start(&metadata, reader.position())?, file.len())?;
    Ok(Header { metadata, places })
}

/// The metadata at the beginning of a file.
///
/// # Errors
/// Metadata that is malformed, or longer than the beginning.
pub fn metadata(head: &[u8]) -> Result<Metadata, Mistake> {
    let mut reader = Reader::new(head);
    let (_, values) = counts(&mut reader)?;
    Metadata::read(&mut reader, values)
}

/// The forms of the tensors that the beginning of a file describes.
///
/// # Errors
/// A header that is malformed, or longer than the beginning.
pub fn formats(head: &[u8]) -> Result<Vec<&'static Format>, Mistake> {
    let (_, described) = fields(&mut Reader::new(head))?;
    Ok(described.into_iter().map(|tensor| tensor.format).collect())
}

fn fields(reader: &mut Reader<'_>) -> Result<(Metadata, Vec<Described>), Mistake> {
    let (tensors, values) = counts(reader)?;
    let metadata = Metadata::read(reader, values)?;
    let described = (0..tensors).map(|_| describe(reader)).collect::<Result<_, _>>()?;
    Ok((metadata, described))
}

/// How many tensors and values of metadata a file has.
fn counts(reader: &mut Reader<'_>) -> Result<(usize, usize), Mistake> {
    if reader.take(MAGIC.len())? != MAGIC {
        return Err("it is no GGUF file".to_owned());
    }
    match reader.u32()? {
        2 | 3 => {}
        version if version.swap_bytes() <= 3 => return Err("it is big-endian; little-endian is supported".to_owned()),
        version => return Err(format!("it has version {version} of GGUF; versions 2 and 3 are supported")),
    }
    let tensors = reader.count(LEAST[1])?;
    Ok((tensors, reader.count(LEAST[0])?))
}

/// A tensor as the header describes the tensor.
struct Described {
    name: String,
    shape: Vec<usize>,
    format: &'static Format,
    offset: u64,
}

fn describe(reader: &mut Reader<'_>) -> Result<Described, Mistake> {
    let name = reader.text()?;
    let rank = reader.u32()?;
    if rank == 0 || rank > RANK {
        return Err(format!("its tensor `{name}` has {rank} dimensions"));
    }
    let size = |size: u64| usize::try_from(size).ok().filter(|size| *size > 0);
    let sizes = (0..rank).map(|_| reader.u64()).collect::<Result<Vec<u64>, Mistake>>()?;
    let shape: Option<Vec<usize>> = sizes.iter().rev().map(|of| size(*of)).collect();
    let shape = shape.ok_or_else(|| format!("its tensor `{name}` has the sizes {sizes:?}"))?;
    let code = reader.u32()?;
    let format = gguf::find(code).ok_or_else(|| {
        let known: Vec<&str> = gguf::all().map(|format| format.name).collect();
        let what =
            gguf::unsupported(code).map_or_else(|| format!("unknown type {code}"), |name| format!("type {name}"));
        format!("its tensor `{name}` has elements of the {what}; supported are {}", known.join(", "))
    })?;
    if shape.last().is_some_and(|columns| columns % format.elements != 0) {
        let Format { name: form, elements, .. } = format;
        return Err(format!(
            "its tensor `{name}` has rows of {:?} elements, and {form} has blocks of {elements}",
            shape.last()
        ));
    }
    Ok(Described { name, shape, format, offset: reader.u64()? })
}

/// Where the elements of all tensors begin.
fn data_start(metadata: &Metadata, header: usize) -> Result<u64, Mistake> {
    let alignment = metadata.count("general.alignment").unwrap_or(ALIGNMENT);
    if !alignment.is_power_of_two() || alignment > 1 << 20 {
        return Err(format!("its `general.alignment` is {alignment}, and no power of two up to 1048576"));
    }
    Ok((header as u64).next_multiple_of(alignment))
}

/// Places tensors in the file: each within the file, and none over another.
fn place(described: Vec<Described>, first: u64, length: usize) -> Result<Vec<Place>, Mistake> {
    let (mut places, mut ranges, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
    for Described { name, shape, format, offset } in described {
        let range = range(&shape, format, first, offset).filter(|[_, end]| *end <= length);
        let [start, end] =
            range.ok_or_else(|| format!("its tensor `{name}` ends behind the file, which has {length} bytes"))?;
        if !names.insert(name.clone()) {
            return Err(format!("it has the tensor `{name}` twice"));
        }
        ranges.push((start, end, name.clone()));
        places.push(Place { name, shape, format, start });
    }
    ranges.sort();
    let overlap = ranges.iter().zip(ranges.iter().skip(1)).find(|(left, right)| left.1 > right.0);
    match overlap {
        Some((left, right)) => Err(format!("its tensors `{}` and `{}` overlap", left.2, right.2)),
        None => Ok(places),
    }
}

/// The bytes of a tensor in the file.
fn range(shape: &[usize], format: &Format, first: u64, offset: u64) -> Option<[usize; 2]> {
    let elements = shape.iter().try_fold(1_usize, |count, size| count.checked_mul(*size))?;
    let bytes = (elements / format.elements).checked_mul(format.bytes)?;
    let start = usize::try_from(first.checked_add(offset)?).ok()?;
    Some([start, start.checked_add(bytes)?])
}
