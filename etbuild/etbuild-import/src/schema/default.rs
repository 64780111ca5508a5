//! Default values in schemas.

use et_core::ScalarType;
use etbuild_ir::{Argument, MemoryFormat};

use super::kind::Kind;

/// Reads the default of a parameter of this kind. For a list of known length, a single item stands for every item.
pub fn parse(text: &str, kind: Kind, length: Option<usize>) -> Option<Argument> {
    if text == "None" {
        return Some(Argument::None);
    }
    match kind {
        Kind::Int => text.parse().ok().map(Argument::Int),
        Kind::Float => text.parse().ok().map(Argument::Float),
        Kind::Bool => boolean(text).map(Argument::Bool),
        Kind::Scalar => scalar(text),
        Kind::Text => Some(Argument::Text(text.trim_matches('"').to_owned())),
        Kind::ScalarType => text.parse().ok().and_then(ScalarType::from_number).map(Argument::Type),
        Kind::MemoryFormat => Some(Argument::MemoryFormat(MemoryFormat::Contiguous)),
        Kind::Ints => list(text, length).map(Argument::Ints),
        Kind::Floats => list(text, length).map(Argument::Floats),
        Kind::Bools => items(text, length)?.into_iter().map(boolean).collect::<Option<_>>().map(Argument::Bools),
        Kind::Tensors => (text == "[]").then(|| Argument::Values(Vec::new())),
        Kind::Tensor => None,
        Kind::Place => Some(Argument::Place),
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

fn scalar(text: &str) -> Option<Argument> {
    let integer = text.parse().ok().map(Argument::Int);
    integer.or_else(|| boolean(text).map(Argument::Bool)).or_else(|| text.parse().ok().map(Argument::Float))
}

fn list<T: std::str::FromStr>(text: &str, length: Option<usize>) -> Option<Vec<T>> {
    items(text, length)?.into_iter().map(|item| item.parse().ok()).collect()
}

fn items(text: &str, length: Option<usize>) -> Option<Vec<&str>> {
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some("") => Some(Vec::new()),
        Some(inner) => Some(inner.split(',').map(str::trim).collect()),
        None => Some(vec![text; length?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalar_keeps_whether_it_is_an_integer() {
        assert_eq!(parse("1", Kind::Scalar, None), Some(Argument::Int(1)));
        assert_eq!(parse("1.", Kind::Scalar, None), Some(Argument::Float(1.0)));
        assert_eq!(parse("True", Kind::Scalar, None), Some(Argument::Bool(true)));
    }

    #[test]
    fn a_single_item_stands_for_a_list_of_known_length() {
        assert_eq!(parse("[1, 1]", Kind::Ints, Some(2)), Some(Argument::Ints(vec![1, 1])));
        assert_eq!(parse("[]", Kind::Ints, Some(2)), Some(Argument::Ints(vec![])));
        assert_eq!(parse("-1", Kind::Ints, Some(3)), Some(Argument::Ints(vec![-1; 3])));
        assert_eq!(parse("0", Kind::Ints, None), None);
    }
}
