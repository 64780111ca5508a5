//! The long explanation of a code: its cause, an example that produces it, and the fix.

use std::fmt::Write;

use crate::{Code, CodeInfo};

/// The explanations, a file per part of etbuild, with a section per code.
const FILES: [&str; 8] = [
    include_str!("explanations/01-yaml.md"),
    include_str!("explanations/02-recipe.md"),
    include_str!("explanations/03-model.md"),
    include_str!("explanations/04-program.md"),
    include_str!("explanations/05-tools.md"),
    include_str!("explanations/06-store.md"),
    include_str!("explanations/07-run.md"),
    include_str!("explanations/08-command.md"),
];

/// The parts of an explanation, in Markdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The situations that produce the code.
    pub cause: &'static str,
    /// A recipe, a command or a message that produces the code.
    pub example: Example,
    /// The steps that remove the cause.
    pub fix: &'static str,
}

/// A code block with its language: `yaml` for a recipe, `yaml target` for a target file, `sh` for commands, `text` for other excerpts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Example {
    /// The language after the opening fence.
    pub language: &'static str,
    /// The lines between the fences.
    pub text: &'static str,
}

impl Code {
    /// The explanation of the code. A test checks that every code has one.
    pub fn explanation(self) -> Explanation {
        sections().find(|(id, _)| *id == self.id()).and_then(|(_, text)| parse(text)).unwrap_or_default()
    }
}

/// The page `docs/reference/diagnostics.md`.
pub fn reference_markdown() -> String {
    let mut page = String::from(
        "# Diagnostics: ETB codes\n\n`cargo dev generate` writes this page from `etbuild-diagnostic/src/explanations/`. \
         `etbuild explain ETB0107` prints an entry.\n",
    );
    for info in Code::TABLE {
        let _ = write!(page, "\n## {}: {}\n\n{}", info.id, info.title, body(info));
    }
    page
}

fn body(info: &CodeInfo) -> String {
    let Explanation { cause, example, fix } = info.code.explanation();
    let language = example.language.split(' ').next().unwrap_or_default();
    format!(
        "{} Exit status {}.\n\n**Cause.** {cause}\n\n**Example.**\n\n```{language}\n{}\n```\n\n**Fix.** {fix}\n",
        info.summary,
        info.failure.exit_code(),
        example.text
    )
}

/// Every section: the code of its heading, and its text.
fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    let sections = FILES.iter().flat_map(|file| file.split("## ").skip(1));
    sections.map(|section| section.split_once('\n').unwrap_or((section, "")))
}

/// The parts of a section; `None` for a section without the three parts in order.
fn parse(section: &'static str) -> Option<Explanation> {
    let rest = section.trim().strip_prefix("**Cause.** ")?;
    let (cause, rest) = rest.split_once("\n\n**Example.**\n\n```")?;
    let (language, rest) = rest.split_once('\n')?;
    let (text, rest) = rest.split_once("\n```\n")?;
    let fix = rest.trim().strip_prefix("**Fix.** ")?;
    Some(Explanation { cause, example: Example { language, text }, fix })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_an_explanation_and_every_explanation_a_code() {
        let ids: Vec<&str> = Code::TABLE.iter().map(|info| info.id).collect();
        let headings: Vec<&str> = sections().map(|(id, _)| id).collect();
        assert_eq!(headings, ids);
    }

    #[test]
    fn every_explanation_has_a_cause_an_example_and_a_fix() {
        for (id, text) in sections() {
            let explanation = parse(text).unwrap_or_else(|| panic!("{id} lacks a part:\n{text}"));
            let Explanation { cause, example, fix } = explanation;
            assert!(cause.ends_with('.') && !example.text.is_empty(), "{id}: {cause}");
            assert!(fix.len() > 20, "{id}: {fix}");
            assert!(["yaml", "yaml target", "sh", "text"].contains(&example.language), "{id}: {}", example.language);
        }
    }
}
