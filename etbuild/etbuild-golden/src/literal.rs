//! Elements of constants as text, and back.

use et_core::{BFloat16, Half, ScalarType};

/// The most elements that are printed in full; longer constants are cut short.
const PRINTED: usize = 32;

/// The bytes of `count` elements that `text` spells: `[1, 2]`, `splat(0.5)` or `ramp(-1.0, 1.0)`.
pub fn parse(scalar_type: ScalarType, count: usize, text: &str) -> Result<Vec<u8>, String> {
    let elements =
        elements(count, text).ok_or_else(|| format!("`{text}` is not a list, `splat(x)` or `ramp(x, y)`"))?;
    if elements.len() != count {
        return Err(format!("`{text}` has {} elements, the type has {count}", elements.len()));
    }
    let bytes: Option<Vec<Vec<u8>>> = elements.iter().map(|element| encode(scalar_type, *element)).collect();
    bytes.map(|bytes| bytes.concat()).ok_or_else(|| format!("there are no literals of {}", scalar_type.name()))
}

fn elements(count: usize, text: &str) -> Option<Vec<f64>> {
    if let Some(list) = inside(text, "[", "]") {
        return numbers(list);
    }
    if let Some(value) = inside(text, "splat(", ")") {
        return Some(vec![number(value)?; count]);
    }
    let [from, to] = numbers(inside(text, "ramp(", ")")?)?[..] else { return None };
    let last = count.saturating_sub(1).max(1) as f64;
    Some((0..count).map(|index| from + (to - from) * index as f64 / last).collect())
}

fn inside<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

fn numbers(list: &str) -> Option<Vec<f64>> {
    list.split(',').filter(|item| !item.trim().is_empty()).map(number).collect()
}

fn number(text: &str) -> Option<f64> {
    match text.trim() {
        "true" => Some(1.0),
        "false" => Some(0.0),
        text => text.parse().ok(),
    }
}

/// An element as bytes; `None` for types without literals.
fn encode(scalar_type: ScalarType, element: f64) -> Option<Vec<u8>> {
    Some(match scalar_type {
        ScalarType::Float => (element as f32).to_le_bytes().to_vec(),
        ScalarType::Double => element.to_le_bytes().to_vec(),
        ScalarType::Half => Half::from_f32(element as f32).0.to_le_bytes().to_vec(),
        ScalarType::BFloat16 => BFloat16::from_f32(element as f32).0.to_le_bytes().to_vec(),
        ScalarType::Bool | ScalarType::Byte => vec![element as u8],
        ScalarType::Char => (element as i8).to_le_bytes().to_vec(),
        ScalarType::Int => (element as i32).to_le_bytes().to_vec(),
        ScalarType::Long => (element as i64).to_le_bytes().to_vec(),
        _ => return None,
    })
}

/// The literal of a constant; `None` for types without literals. A long literal has the first elements and the number of the rest.
pub fn print(scalar_type: ScalarType, bytes: &[u8]) -> Option<String> {
    let words: Option<Vec<String>> = bytes.chunks(scalar_type.size()).map(|bytes| decode(scalar_type, bytes)).collect();
    let words = words?;
    match &words[..] {
        [first, _, ..] if words.iter().all(|word| word == first) => Some(format!("splat({first})")),
        words if words.len() <= PRINTED => Some(format!("[{}]", words.join(", "))),
        words => Some(format!("[{}, ... {} more]", words[..PRINTED / 4].join(", "), words.len() - PRINTED / 4)),
    }
}

fn decode(scalar_type: ScalarType, bytes: &[u8]) -> Option<String> {
    Some(match scalar_type {
        ScalarType::Float => format!("{:?}", f32::from_le_bytes(bytes.try_into().ok()?)),
        ScalarType::Double => format!("{:?}", f64::from_le_bytes(bytes.try_into().ok()?)),
        ScalarType::Half => format!("{:?}", Half(u16::from_le_bytes(bytes.try_into().ok()?)).to_f32()),
        ScalarType::BFloat16 => format!("{:?}", BFloat16(u16::from_le_bytes(bytes.try_into().ok()?)).to_f32()),
        ScalarType::Bool => (*bytes.first()? != 0).to_string(),
        ScalarType::Byte => bytes.first()?.to_string(),
        ScalarType::Char => i8::from_le_bytes(bytes.try_into().ok()?).to_string(),
        ScalarType::Int => i32::from_le_bytes(bytes.try_into().ok()?).to_string(),
        ScalarType::Long => i64::from_le_bytes(bytes.try_into().ok()?).to_string(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read_as_they_are_printed() {
        for (scalar_type, text) in [
            (ScalarType::Float, "[0.1, -2.0, 1e-7]"),
            (ScalarType::BFloat16, "[0.5, -2.0, 1.0]"),
            (ScalarType::Char, "[-128, 0, 127]"),
            (ScalarType::Long, "splat(-9)"),
            (ScalarType::Bool, "[true, false, true]"),
        ] {
            let bytes = parse(scalar_type, 3, text).unwrap();
            assert_eq!(bytes.len(), 3 * scalar_type.size());
            assert_eq!(print(scalar_type, &bytes).unwrap(), text);
        }
    }

    #[test]
    fn a_ramp_has_both_ends() {
        assert_eq!(parse(ScalarType::Byte, 3, "ramp(1, 5)").unwrap(), [1, 3, 5]);
    }

    #[test]
    fn a_list_has_as_many_elements_as_the_type() {
        assert_eq!(parse(ScalarType::Byte, 3, "[1, 2]").unwrap_err(), "`[1, 2]` has 2 elements, the type has 3");
        assert!(parse(ScalarType::Byte, 3, "1, 2, 3").is_err());
    }
}
