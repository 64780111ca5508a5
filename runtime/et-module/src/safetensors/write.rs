//! Writes a file: names sorted, bytes in the order of names.

use std::io::{Result, Write};

use super::element_type;
use super::json::quoted;
use super::read::METADATA;
use crate::{Array, Named};

/// The header's length is a multiple of this, so that tensors are aligned in a mapped file.
const ALIGNMENT: usize = 8;

/// Writes `arrays`; equal arrays give equal bytes.
pub fn write(arrays: &Named<Array>, out: &mut dyn Write) -> Result<()> {
    write_with_texts(arrays, &Named::new(), out)
}

/// The same with texts about the file.
pub fn write_with_texts(arrays: &Named<Array>, texts: &Named<String>, out: &mut dyn Write) -> Result<()> {
    let header = header(arrays, texts);
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    arrays.values().try_for_each(|array| out.write_all(&array.bytes))
}

fn header(arrays: &Named<Array>, texts: &Named<String>) -> String {
    let mut start = 0;
    let mut entries = Vec::new();
    if !texts.is_empty() {
        let texts: Vec<String> = texts.iter().map(|(key, text)| quoted(key) + ":" + &quoted(text)).collect();
        entries.push(format!(r#"{}:{{{}}}"#, quoted(METADATA), texts.join(",")));
    }
    for (name, array) in arrays {
        let end = start + array.bytes.len();
        let (name, element_type) = (quoted(name), element_type::name(array.scalar_type));
        let shape: Vec<String> = array.shape.iter().map(usize::to_string).collect();
        let shape = shape.join(",");
        entries
            .push(format!(r#"{name}:{{"dtype":"{element_type}","shape":[{shape}],"data_offsets":[{start},{end}]}}"#));
        start = end;
    }
    let mut header = format!("{{{}}}", entries.join(","));
    let padding = header.len().next_multiple_of(ALIGNMENT) - header.len();
    header.extend(std::iter::repeat_n(' ', padding));
    header
}
