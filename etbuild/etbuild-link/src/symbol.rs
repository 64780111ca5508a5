//! Names of C.

/// A name as an identifier of C, with which the functions of a model begin: `tiny-cnn` is `tiny_cnn`, `7` is `model_7`.
pub fn symbol(name: &str) -> String {
    let text: String = name.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '_' }).collect();
    if text.starts_with(|sign: char| sign.is_ascii_alphabetic()) { text } else { format!("model_{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_an_identifier_of_c() {
        assert_eq!(["digits", "tiny-cnn.v2", "7"].map(symbol), ["digits", "tiny_cnn_v2", "model_7"]);
    }
}
