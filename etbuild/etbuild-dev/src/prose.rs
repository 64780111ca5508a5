//! The prose of a file: comments and texts of Rust, comments of TOML and YAML, paragraphs of Markdown.

/// Prose that starts at a line. A block of comments or a paragraph is a single line, so that phrases match across line breaks.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    /// The number of the first line, from 1.
    pub number: usize,
    /// The words, without code spans.
    pub text: String,
}

/// The vocabulary and its check contain the replaced phrases themselves, and golden files are outputs.
const EXEMPT: [&str; 3] = ["docs/glossary.toml", "etbuild/etbuild-dev/src/glossary.rs", "CHANGELOG.md"];

/// Texts of fewer words are names, formats or patterns.
const FEWEST_WORDS: usize = 3;

/// Whether a file contains prose.
pub fn has_prose(name: &str) -> bool {
    !EXEMPT.contains(&name) && [".rs", ".md", ".toml", ".yaml"].iter().any(|ending| name.ends_with(ending))
}

/// The prose of a file by its name's ending.
pub fn lines(name: &str, text: &str) -> Vec<Line> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    if name.ends_with(".md") {
        return joined(paragraphs(numbered));
    }
    let mark = if name.ends_with(".rs") { "//" } else { "#" };
    let comments = numbered.clone().map(|(number, line)| (number, comment(line, mark)));
    let mut found = joined(comments);
    if mark == "//" {
        found.extend(numbered.flat_map(|(number, line)| texts(line).map(move |text| Line { number, text })));
    }
    found.sort_by_key(|line| line.number);
    found
}

/// Lines of Markdown outside code blocks; `None` for the others.
fn paragraphs<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> impl Iterator<Item = (usize, Option<&'t str>)> {
    let mut in_code = false;
    lines.map(move |(number, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        let is_prose = !(in_code || is_fence || line.starts_with("    ") || line.trim().is_empty());
        (number, is_prose.then_some(line))
    })
}

/// The words of a comment on a line of its own.
fn comment<'t>(line: &'t str, mark: &str) -> Option<&'t str> {
    let words = line.trim_start().strip_prefix(mark)?;
    Some(words.trim_start_matches(['/', '!', '#']).trim()).filter(|words| !words.is_empty())
}

/// Joins neighbouring lines, and drops code spans.
fn joined<'t>(lines: impl Iterator<Item = (usize, Option<&'t str>)>) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    let mut is_open = false;
    for (number, words) in lines {
        match words {
            Some(words) if is_open && !words.starts_with('|') => {
                if let Some(last) = found.last_mut() {
                    last.text.push(' ');
                    last.text.push_str(words.trim());
                }
            }
            Some(words) => found.push(Line { number, text: words.trim().to_owned() }),
            None => {}
        }
        is_open = words.is_some();
    }
    found.iter_mut().for_each(|line| line.text = without_code(&line.text));
    found
}

/// The text with ` ` in place of each span between back quotes.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// The string literals of a line of Rust outside comments that are sentences rather than names or code, without placeholders.
fn texts(line: &str) -> impl Iterator<Item = String> {
    let is_comment = line.trim_start().starts_with("//");
    let literals = line.split('"').skip(1).step_by(2).filter(move |text| !is_comment && !is_code(text));
    let texts = literals.map(|text| without_placeholders(&without_code(text)));
    texts.filter(|text| text.split_whitespace().count() >= FEWEST_WORDS)
}

/// Whether a literal is a line of Rust, as in templates.
fn is_code(text: &str) -> bool {
    text.contains("::") || text.contains("&[")
}

/// The text with ` ` in place of each `{...}`.
fn without_placeholders(text: &str) -> String {
    let mut parts = text.split('{');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + " " + part.split_once('}').map_or(part, |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Vec<(usize, String)> {
        lines(name, text).into_iter().map(|line| (line.number, line.text)).collect()
    }

    #[test]
    fn comments_and_sentences_of_rust_are_prose() {
        let text = "//! A file\n//! of `code` words.\nfn f() {\n    error(\"a b\", \"no {bank} is left\");\n    code(\"let x = a::b;\");\n}\n";
        let expected = [(1, "A file of   words.".to_owned()), (4, "no   is left".to_owned())];
        assert_eq!(found("a.rs", text), expected);
    }

    #[test]
    fn paragraphs_and_rows_of_markdown_are_prose_and_code_is_not() {
        let text = "One\ntwo.\n\n```\ncode\n```\n    code\n| a | b |\n| c | d |\n";
        let expected = [(1, "One two.".to_owned()), (8, "| a | b |".to_owned()), (9, "| c | d |".to_owned())];
        assert_eq!(found("a.md", text), expected);
    }

    #[test]
    fn comments_of_yaml_are_prose_and_values_are_not() {
        assert_eq!(found("a.yaml", "# A board.\nname: value\n"), [(1, "A board.".to_owned())]);
    }
}
