//! The imports of a source file: a reader of `use` items and of paths that begin with `crate`, `super` or `self`.

/// A path that a file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The segments; the last one is `*` for a glob.
    pub path: Vec<String>,
    /// The name that a `use` item gives to the path; `None` for a path in an expression.
    pub name: Option<String>,
}

/// The imports of a file outside of tests.
pub fn imports(text: &str) -> Vec<Import> {
    let words = words(&without_texts(text));
    let words = without_tests(&words);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < words.len() {
        match words[at].as_str() {
            "use" => {
                let end = words[at..].iter().position(|word| word == ";").map_or(words.len(), |length| at + length);
                use_tree(&words[at + 1..end], &[], &mut found);
                at = end;
            }
            "crate" | "super" | "self" if words.get(at + 1).is_some_and(|next| next == "::") => {
                let path = path(&words[at..]);
                at += 2 * path.len() - 1;
                found.push(Import { path, name: None });
            }
            _ => at += 1,
        }
    }
    found
}

/// The segments at the beginning of the words.
fn path(words: &[String]) -> Vec<String> {
    let mut segments = vec![words[0].clone()];
    for pair in words[1..].chunks_exact(2) {
        if pair[0] != "::" || !is_name(&pair[1]) {
            break;
        }
        segments.push(pair[1].clone());
    }
    segments
}

/// The imports of a tree of a `use` item.
fn use_tree(words: &[String], prefix: &[String], found: &mut Vec<Import>) {
    let mut path = prefix.to_vec();
    for (index, word) in words.iter().enumerate() {
        match word.as_str() {
            "::" => {}
            "{" => return branches(&words[index + 1..]).iter().for_each(|branch| use_tree(branch, &path, found)),
            "as" => return found.push(Import { path, name: words.get(index + 1).cloned() }),
            "self" if !path.is_empty() => {}
            _ => path.push(word.clone()),
        }
    }
    if !path.is_empty() {
        found.push(Import { name: path.last().cloned(), path });
    }
}

/// The words between the commas of a brace, whose end is the end of the words or the matching brace.
fn branches(words: &[String]) -> Vec<&[String]> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (index, word) in words.iter().enumerate() {
        match word.as_str() {
            "{" => depth += 1,
            "}" if depth == 0 => {
                found.push(&words[start..index]);
                return found;
            }
            "}" => depth -= 1,
            "," if depth == 0 => {
                found.push(&words[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    found
}

/// Leaves out the items behind `#[cfg(test)]` and `#[cfg(all(test, ...))]`.
fn without_tests(words: &[String]) -> Vec<String> {
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < words.len() {
        match test_marker(&words[at..]) {
            Some(length) => at = end_of_item(words, at + length),
            None => {
                kept.push(words[at].clone());
                at += 1;
            }
        }
    }
    kept
}

/// The length of the attribute at the start of the words, if the attribute marks tests.
fn test_marker(words: &[String]) -> Option<usize> {
    let begins_with = |marker: &[&str]| words.len() >= marker.len() && words.iter().zip(marker).all(|(a, b)| a == b);
    let marks_tests = begins_with(&["#", "[", "cfg", "(", "test", ")", "]"])
        || begins_with(&["#", "[", "cfg", "(", "all", "(", "test", ","]);
    if marks_tests { words.iter().position(|word| word == "]").map(|end| end + 1) } else { None }
}

/// The position behind an item, which ends with `;` or with a brace.
fn end_of_item(words: &[String], start: usize) -> usize {
    let mut depth = 0;
    for (index, word) in words.iter().enumerate().skip(start) {
        match word.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => return index + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return index + 1,
            _ => {}
        }
    }
    words.len()
}

/// Leaves out comments and the content of strings.
fn without_texts(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(hashes) = raw_string(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = 2 + hashes;
            rest[begin..].find(&end).map_or(rest.len(), |length| begin + length + end.len())
        } else if first == '"' {
            string_length(rest)
        } else if rest.starts_with("'\"'") {
            3
        } else if rest.starts_with("'\\\"'") {
            4
        } else {
            kept.push(first);
            first.len_utf8()
        };
        rest = &rest[skipped..];
    }
    kept
}

/// The number of hashes of a raw string at the beginning of a text.
fn raw_string(text: &str) -> Option<usize> {
    let behind = text.strip_prefix('r')?;
    let hashes = behind.chars().take_while(|character| *character == '#').count();
    behind[hashes..].starts_with('"').then_some(hashes)
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, character) in text.char_indices().skip(1) {
        match character {
            '"' if !escaped => return index + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// Names, `::`, and every other character that is no blank.
fn words(text: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let length = match first {
            ':' if rest.starts_with("::") => 2,
            first if is_part(first) => rest.find(|next: char| !is_part(next)).unwrap_or(rest.len()),
            first => first.len_utf8(),
        };
        found.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    found
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn is_name(word: &str) -> bool {
    word.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        imports(text).iter().map(|import| import.path.join("::")).collect()
    }

    #[test]
    fn trees_of_use_items_are_taken_apart() {
        let text = "use crate::a::{self, b::{C, D as E}, f::*};\npub use super::x;";
        assert_eq!(paths(text), ["crate::a", "crate::a::b::C", "crate::a::b::D", "crate::a::f::*", "super::x"]);
        let names: Vec<_> = imports(text).into_iter().map(|import| import.name.unwrap()).collect();
        assert_eq!(names, ["a", "C", "E", "*", "x"]);
    }

    #[test]
    fn paths_in_code_count_and_texts_do_not() {
        let text =
            "fn f(x: &crate::a::B) -> char { let s = r#\"crate::c\"#; super::g(\"\\\"crate::d\"); '\"' } // crate::e";
        assert_eq!(paths(text), ["crate::a::B", "super::g"]);
    }

    #[test]
    fn tests_are_left_out() {
        let text = "#[cfg(test)]\nuse crate::a;\nuse crate::b;\n#[cfg(test)]\nmod tests {\n fn f() { {} crate::c::d() }\n}\nuse crate::e;";
        assert_eq!(paths(text), ["crate::b", "crate::e"]);
    }
}
