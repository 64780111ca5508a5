//! The functions that kernels may call, in WGSL.

use std::collections::BTreeMap;
use std::sync::LazyLock;

const FUNCTIONS: &str = include_str!("functions.wgsl");

/// The texts of the functions by name.
static BY_NAME: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    let named = |text: &'static str| Some((text.trim_start().strip_prefix("fn ")?.split('(').next()?, text.trim_end()));
    FUNCTIONS.split("\n\n").filter_map(named).collect()
});

/// The functions that statements call, and those that these call.
pub fn called(body: &str) -> String {
    let mut texts: Vec<&str> = vec![body];
    let mut next = 0;
    while let Some(text) = texts.get(next).copied() {
        for function in words_before_parentheses(text).filter_map(|word| BY_NAME.get(word)) {
            if !texts.contains(function) {
                texts.push(function);
            }
        }
        next += 1;
    }
    texts[1..].iter().map(|text| format!("{text}\n")).collect()
}

fn words_before_parentheses(text: &str) -> impl Iterator<Item = &str> {
    let before = text.rsplit_once('(').map_or("", |(before, _)| before);
    let is_between = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
    before.split('(').filter_map(move |part| part.rsplit(is_between).next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_come_with_those_that_they_call() {
        let text = called("let v = gelu_f32(x);");
        let names = ["fn gelu_f32", "fn erf_f32", "fn exp_f32", "fn round_f32", "fn of_bits"];
        assert!(names.into_iter().all(|name| text.matches(name).count() == 1));
        assert_eq!(called("let v = relax_f32(x);"), "");
    }
}
