//! "Did you mean": the nearest of the names that would have been right.

/// Longest name, in bytes, that is compared and quoted whole. A name of ours is far shorter.
const LONGEST: usize = 64;

/// Most candidates that are compared, so that a file full of names costs no time.
const CANDIDATES: usize = 256;

/// The shortest start of a candidate that stands for the whole.
const START: usize = 3;

/// The candidate that `name` was most likely meant to be, if any is near.
pub fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = if name.len() <= LONGEST { name.to_lowercase() } else { return None };
    let candidates: Vec<&str> = candidates.into_iter().take(CANDIDATES).collect();
    // A name that was not written to its end is no other name with a slip in it: `int4` is `int4-weights`, and not `int8`.
    let is_start = |candidate: &&str| name.len() >= START && candidate.starts_with(&name);
    if let Some(whole) = candidates.iter().copied().filter(is_start).min_by_key(|candidate| candidate.len()) {
        return Some(whole);
    }
    let scored = candidates.into_iter().map(|candidate| (strsim::damerau_levenshtein(&name, candidate), candidate));
    let near = scored.filter(|(distance, candidate)| *distance <= 1 + name.chars().count().max(candidate.len()) / 4);
    near.min().map(|(_, candidate)| candidate)
}

/// A quoted text in messages: in backticks, cut if long, without control characters.
pub fn quote(text: &str) -> String {
    let printable = |character: char| if character.is_control() { char::REPLACEMENT_CHARACTER } else { character };
    let shown: String = text.chars().take(LONGEST).map(printable).collect();
    let cut = if text.chars().nth(LONGEST).is_some() { "..." } else { "" };
    format!("`{shown}{cut}`")
}

/// Names in backticks, separated by commas.
pub fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The hint for a `name` that is not in `allowed`.
pub fn help(name: &str, allowed: &[&str]) -> String {
    match suggest(name, allowed.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write one of {}", quoted(allowed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let keys = ["name", "model", "targets", "quantize"];
        assert_eq!(suggest("nmae", keys), Some("name"));
        assert_eq!(suggest("Quantise", keys), Some("quantize"));
        assert_eq!(suggest("target", keys), Some("targets"));
        assert_eq!(suggest("colour", keys), None);
        assert_eq!(suggest("int4", ["int8", "int8-weights", "int4-weights"]), Some("int4-weights"));
        assert_eq!(suggest("in", ["int8", "int8-weights"]), Some("int8"));
    }

    #[test]
    fn a_quoted_text_is_short_and_harmless() {
        assert_eq!(quote("a\u{1b}[31mb"), "`a\u{fffd}[31mb`");
        assert_eq!(quote(&"é".repeat(1000)).chars().count(), LONGEST + 5);
    }
}
