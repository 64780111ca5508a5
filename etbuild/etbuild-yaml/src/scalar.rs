//! The type of a plain scalar, by the core schema of YAML 1.2.
//!
//! <https://yaml.org/spec/1.2.2/#1032-tag-resolution>: `yes`, `on`, `1_000` and `12:30` are texts.

use crate::Value;

/// The value of an unquoted scalar.
pub fn resolve(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).unwrap_or_else(|| Value::Text(text.to_owned())),
    }
}

fn number(text: &str) -> Option<Value> {
    integer(text).map(Value::Integer).or_else(|| float(text).map(Value::Float))
}

fn integer(text: &str) -> Option<i128> {
    if let Some(digits) = text.strip_prefix("0x") {
        return unsigned(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return unsigned(digits, 8);
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let decimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    decimal.then(|| text.parse().ok()).flatten()
}

/// Digits without a sign, which `from_str_radix` alone would let pass.
fn unsigned(digits: &str, radix: u32) -> Option<i128> {
    let valid = digits.chars().all(|digit| digit.is_digit(radix));
    valid.then(|| i128::from_str_radix(digits, radix).ok()).flatten()
}

fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" if text.starts_with('-') => Some(f64::NEG_INFINITY),
        ".inf" | ".Inf" | ".INF" => Some(f64::INFINITY),
        _ if [".nan", ".NaN", ".NAN"].contains(&text) => Some(f64::NAN),
        _ if is_decimal(unsigned) => text.parse().ok(),
        _ => None,
    }
}

/// Whether `text` has only the characters of a decimal number and at least one digit before the exponent. The standard
/// parser decides the rest; alone, that parser accepts `inf`, `nan` and `infinity`.
fn is_decimal(text: &str) -> bool {
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let has_digit = mantissa.bytes().any(|byte| byte.is_ascii_digit());
    has_digit && text.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_are_two_words_only() {
        assert_eq!(resolve("true"), Value::Bool(true));
        for text in ["yes", "no", "on", "off", "y", "tRUE"] {
            assert_eq!(resolve(text), Value::Text(text.to_owned()));
        }
    }

    #[test]
    fn numbers_follow_the_core_schema() {
        assert_eq!(resolve("0x10000000"), Value::Integer(0x1000_0000));
        assert_eq!(resolve("0o17"), Value::Integer(15));
        assert_eq!(resolve("-12"), Value::Integer(-12));
        assert_eq!(resolve("1e-4"), Value::Float(1e-4));
        assert_eq!(resolve("-.inf"), Value::Float(f64::NEG_INFINITY));
    }

    #[test]
    fn text_that_resembles_a_number_is_text() {
        for text in ["1_000", "12:30", "inf", "nan", "0x", "0x-1", "1.2.3", "e5", "-", "4w", "700 MiB", "."] {
            assert_eq!(resolve(text), Value::Text(text.to_owned()), "{text}");
        }
    }
}
