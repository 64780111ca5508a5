//! "Did you mean": the nearest of the names that would have been right.

/// Longest name, in bytes, that is compared and quoted whole. A name of ours is far shorter.
const LONGEST: usize = 64;

/// The candidate that `name` was most likely meant to be, if any is near.
pub fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = if name.len() <= LONGEST { name.to_lowercase() } else { return None };
    let scored = candidates.into_iter().map(|candidate| (strsim::damerau_levenshtein(&name, candidate), candidate));
    let near = scored.filter(|(distance, candidate)| *distance <= 1 + name.chars().count().max(candidate.len()) / 4);
    near.min().map(|(_, candidate)| candidate)
}

/// A text as messages quote it: in backticks, cut where it is long.
pub fn quote(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}...`", text.get(..end).unwrap_or_default()),
        None => format!("`{text}`"),
    }
}

/// Names in backticks, separated by commas.
pub fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// What to say when `name` is none of `allowed`.
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
    }
}
