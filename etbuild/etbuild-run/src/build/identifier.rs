//! Names of a program file as identifiers of Rust.

/// The words that no identifier is, of all editions.
const KEYWORDS: &str = " abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if impl in \
    let loop macro match mod move mut override priv pub ref return self static struct super trait true try type typeof unsafe unsized use \
    virtual where while yield ";

/// An identifier of a function, a parameter or a field: `conv.weight` is `conv_weight`, and `type` is `type_`.
pub fn snake(name: &str) -> String {
    let usable = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let mut text: String = name.chars().map(usable).collect();
    if text.starts_with(|first: char| first.is_ascii_digit()) || text.chars().all(|letter| letter == '_') {
        text.insert(0, 'n');
    }
    if KEYWORDS.contains(&format!(" {text} ")) {
        text.push('_');
    }
    text
}

/// An identifier of a type: `log_probs` is `LogProbs`.
pub fn camel(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    let text: String = words.map(capital).collect();
    if text.starts_with(|first: char| first.is_ascii_alphabetic()) { text } else { format!("N{text}") }
}

/// The identifiers of names in a scope that has `taken`: equal identifiers get `_` at their ends.
pub fn distinct(names: impl IntoIterator<Item = String>, taken: &[&str]) -> Vec<String> {
    let mut known: Vec<String> = taken.iter().map(|name| (*name).to_owned()).collect();
    let first = known.len();
    for mut name in names {
        while known.contains(&name) {
            name.push('_');
        }
        known.push(name);
    }
    known.split_off(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_becomes_an_identifier() {
        let names = ["x", "conv.weight", "type", "3d", "", "Größe"].map(snake);
        assert_eq!(names, ["x", "conv_weight", "type_", "n3d", "n", "Gr__e"]);
        assert_eq!(["forward", "log_probs", "3d", "_"].map(camel), ["Forward", "LogProbs", "N3d", "N"]);
    }

    #[test]
    fn names_of_a_scope_differ() {
        let names = ["open", "a", "a", "a_"].map(str::to_owned);
        assert_eq!(distinct(names, &["open"]), ["open_", "a", "a_", "a__"]);
    }
}
