//! Formats that are protocol buffers: no magic number, but known first fields.

use super::Glance;

/// The wire type of a varint, and of a length with bytes (protobuf.dev, "Encoding").
const VARINT: u8 = 0;
const BYTES: u8 = 2;

/// The first two fields of a message: the number with the varint, and the number with the bytes so far as they are seen.
struct Start<'a> {
    version: u64,
    second: u8,
    bytes: &'a [u8],
}

/// The start of a message whose first field is a small version number in field 1.
fn start<'a>(glance: &Glance<'a>) -> Option<Start<'a>> {
    let (&tag, rest) = glance.head.split_first()?;
    if tag != 1 << 3 | VARINT {
        return None;
    }
    let (&version, rest) = rest.split_first().filter(|(version, _)| (1..=32).contains(*version))?;
    let (&tag, rest) = rest.split_first().filter(|(tag, _)| **tag & 7 == BYTES)?;
    let (length, rest) = varint(rest)?;
    let bytes = rest.get(..usize::try_from(length).ok()?).unwrap_or(rest);
    Some(Start { version: u64::from(version), second: tag >> 3, bytes })
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let end = bytes.iter().take(10).position(|byte| byte & 0x80 == 0)?;
    let (number, rest) = bytes.split_at_checked(end + 1)?;
    let number = number
        .iter()
        .rev()
        .try_fold(0_u64, |number, byte| number.checked_mul(128).map(|number| number | u64::from(byte & 0x7f)));
    Some((number?, rest))
}

/// `ModelProto` of onnx.proto: `ir_version`, then `producer_name` (2), `graph` (7) or `opset_import` (8).
pub(super) fn is_onnx(glance: &Glance<'_>) -> bool {
    start(glance).is_some_and(|start| match start.second {
        2 => start.version >= 3 && is_printable(start.bytes),
        7 | 8 => start.version >= 3,
        _ => false,
    })
}

/// `Model` of Core ML's Model.proto: `specificationVersion`, then `description` (2), a message.
pub(super) fn is_core_ml(glance: &Glance<'_>) -> bool {
    start(glance).is_some_and(|start| start.second == 2 && start.version >= 2 && !is_printable(start.bytes))
}

/// `SavedModel` of TensorFlow's saved_model.proto: `saved_model_schema_version`, always 1, then `meta_graphs` (2).
pub(super) fn is_saved_model(glance: &Glance<'_>) -> bool {
    start(glance).is_some_and(|start| start.second == 2 && start.version == 1)
}

fn is_printable(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ')
}
