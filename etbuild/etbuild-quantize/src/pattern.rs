//! Patterns for names of modules.

/// Whether `name` matches `pattern`, where `*` matches any text, also empty text.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        match rest.split_once(piece) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text() {
        assert!(matches("features.0.*", "features.0.block.1"));
        assert!(matches("*", ""));
        assert!(matches("*.mlp.*.linear", "encoder.3.mlp.0.linear"));
        assert!(!matches("features.0.*", "features.10.block"));
        assert!(!matches("features.0", "features.0.block"));
        assert!(!matches("ab*ba", "aba"));
    }
}
