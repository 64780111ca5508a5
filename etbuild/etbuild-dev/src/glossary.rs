//! The vocabulary of `docs/glossary.toml`: its page, and the check that prose uses the terms.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;
use crate::prose::{self, Line};
use crate::tracked;

/// The vocabulary as data.
const FILE: &str = "docs/glossary.toml";

#[derive(Deserialize)]
struct Glossary {
    term: Vec<Term>,
}

/// A term of the field with the phrases that it replaces.
#[derive(Deserialize)]
struct Term {
    name: String,
    meaning: String,
    replaces: Vec<String>,
    /// The folders of the check; all folders if empty.
    #[serde(default)]
    only: Vec<String>,
    /// Phrases that contain a replaced phrase and are allowed.
    #[serde(default)]
    except: Vec<String>,
}

/// The page `docs/glossary.md`.
pub fn markdown(root: &Path) -> Result<String, Error> {
    let mut page = String::from(
        "# Glossary\n\n`cargo dev generate` writes this page from `glossary.toml`, which also lists the phrases that each term \
         replaces; `cargo dev tidy` fails on a replaced phrase.\n\n| term | meaning |\n|---|---|\n",
    );
    for term in read(root)?.term {
        let _ = writeln!(page, "| {} | {} |", term.name, term.meaning.replace('|', "\\|"));
    }
    Ok(page)
}

/// Every replaced phrase in comments, pages and texts of diagnostics: file, line, phrase and term.
pub fn breaches(root: &Path) -> Result<Vec<String>, Error> {
    let glossary = read(root)?;
    let mut findings = Vec::new();
    for name in tracked::files(root)?.iter().filter(|name| prose::has_prose(name)) {
        let path = root.join(name);
        // A tracked file may be removed from the working tree.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        findings.extend(of_file(name, &text, &glossary.term));
    }
    Ok(findings)
}

fn read(root: &Path) -> Result<Glossary, Error> {
    let path = root.join(FILE);
    let text = fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
    Ok(toml::from_str(&text)?)
}

fn of_file(name: &str, text: &str, terms: &[Term]) -> Vec<String> {
    let terms: Vec<&Term> = terms.iter().filter(|term| term.is_for(name)).collect();
    let lines = prose::lines(name, text);
    let found = lines.iter().flat_map(|line| terms.iter().flat_map(|term| term.found_in(line)));
    found.map(|finding| format!("{name}:{finding}")).collect()
}

impl Term {
    fn is_for(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|folder| Path::new(name).starts_with(folder))
    }

    fn found_in(&self, line: &Line) -> Vec<String> {
        let text = self.except.iter().fold(line.text.to_lowercase(), |text, allowed| text.replace(allowed, " "));
        let phrases = self.replaces.iter().filter(|phrase| contains(&text, phrase));
        phrases.map(|phrase| format!("{}: \"{phrase}\": write \"{}\"", line.number, self.name)).collect()
    }
}

/// Whether `text`, in lower case, contains `phrase` as whole words.
fn contains(text: &str, phrase: &str) -> bool {
    let phrase = phrase.to_lowercase();
    text.match_indices(&phrase).any(|(start, found)| {
        let is_word = |character: Option<char>| {
            character.is_some_and(|character| character.is_alphanumeric() || character == '_')
        };
        !is_word(text[..start].chars().next_back()) && !is_word(text[start + found.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(replaces: &str, only: &[&str], except: &[&str]) -> Term {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let (name, meaning) = ("backend".to_owned(), "the host half".to_owned());
        Term { name, meaning, replaces: texts(&[replaces]), only: texts(only), except: texts(except) }
    }

    #[test]
    fn a_replaced_phrase_is_reported_with_its_line_and_its_term() {
        let found = of_file("docs/a.md", "# Title\n\nAn Engine lowers.\n", &[term("engine", &[], &[])]);
        assert_eq!(found, ["docs/a.md:3: \"engine\": write \"backend\""]);
    }

    #[test]
    fn a_phrase_across_a_line_break_is_reported() {
        let found =
            of_file("a.rs", "//! Reads half\n//! bytes.\nfn half_bytes() {}\n", &[term("half bytes", &[], &[])]);
        assert_eq!(found, ["a.rs:1: \"half bytes\": write \"backend\""]);
    }

    #[test]
    fn texts_of_diagnostics_are_checked_and_names_of_code_are_not() {
        let text = "let engine = error(\"no engine here\");\nlet key = \"engine\";\n// The `engine` of `x`.\n";
        let found = of_file("a.rs", text, &[term("engine", &[], &[])]);
        assert_eq!(found, ["a.rs:1: \"engine\": write \"backend\""]);
    }

    #[test]
    fn parts_of_words_other_folders_and_exceptions_pass() {
        let text = "Engineering with the query engine.\n";
        assert!(of_file("docs/a.md", text, &[term("engine", &[], &["query engine"])]).is_empty());
        assert!(of_file("docs/a.md", "An engine.\n", &[term("engine", &["runtime"], &[])]).is_empty());
    }

    #[test]
    fn a_word_of_two_terms_replaces_one_only() {
        let glossary = read(&crate::workspace::root()).unwrap();
        let mut phrases: Vec<&String> = glossary.term.iter().flat_map(|term| &term.replaces).collect();
        phrases.sort();
        assert!(phrases.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
