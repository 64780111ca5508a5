//! The differences of two files.

use std::collections::BTreeMap;

use serde::Serialize;

use super::fact::{self, Facts, Subject};
use super::{Constant, Content, Description};

/// The differences of two files.
#[derive(Serialize)]
pub struct Difference {
    /// Whether the files are the same byte by byte.
    pub identical: bool,
    /// Whether both files hold the same: no change is listed.
    pub equal: bool,
    /// The facts of one file that the other file lacks.
    pub changes: Vec<Change>,
}

/// A difference of two files.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The subject of the difference.
    #[serde(flatten)]
    pub subject: Subject,
    /// The fact in the first file; empty where the file lacks the subject.
    pub before: Option<String>,
    /// The fact in the second file.
    pub after: Option<String>,
}

impl Difference {
    /// Compares two files.
    pub fn between(before: &Description, after: &Description) -> Self {
        let (mut left, mut right) = (fact::of(before), fact::of(after));
        left.extend(constant_facts(&missing_from(before.constants(), after.constants())));
        right.extend(constant_facts(&missing_from(after.constants(), before.constants())));
        let changes = changes(left, right);
        Self { identical: before.digest == after.digest, equal: changes.is_empty(), changes }
    }
}

impl Description {
    /// `program`, `bundle` or `data`.
    pub fn kind(&self) -> &'static str {
        match self.content {
            Content::Program(_) => "program",
            Content::Bundle { .. } => "bundle",
            Content::Data { .. } => "data",
        }
    }

    /// All tensors with elements.
    pub fn constants(&self) -> &[Constant] {
        match &self.content {
            Content::Program(program) | Content::Bundle { program, .. } => &program.constants,
            Content::Data { entries } => entries,
        }
    }
}

fn changes(mut left: Facts, right: Facts) -> Vec<Change> {
    let mut changes = Vec::new();
    for (subject, after) in right {
        let before = left.remove(&subject);
        if before.as_ref() != Some(&after) {
            changes.push(Change { subject, before, after: Some(after) });
        }
    }
    changes.extend(left.into_iter().map(|(subject, before)| Change { subject, before: Some(before), after: None }));
    changes.sort_by(|left, right| left.subject.cmp(&right.subject));
    changes
}

/// The constants of `own` that `other` lacks at any position.
fn missing_from<'a>(own: &'a [Constant], other: &'a [Constant]) -> Vec<&'a Constant> {
    let key = |constant: &'a Constant| (&constant.name, &constant.r#type, &constant.digest, constant.place);
    let mut unmatched = BTreeMap::new();
    other.iter().for_each(|constant| *unmatched.entry(key(constant)).or_insert(0_usize) += 1);
    let is_missing = |constant: &&'a Constant| match unmatched.get_mut(&key(constant)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    own.iter().filter(is_missing).collect()
}

/// Constants without a name are told apart by the type and the position among constants of that type.
fn constant_facts(constants: &[&Constant]) -> Facts {
    let mut unnamed: BTreeMap<&str, usize> = BTreeMap::new();
    let mut facts = Facts::new();
    for constant in constants {
        let name = constant.name.clone().unwrap_or_else(|| {
            let number = unnamed.entry(&constant.r#type).or_insert(0);
            *number += 1;
            format!("{} #{number}", constant.r#type)
        });
        let subject = Subject { method: String::new(), what: "constant", name };
        facts.insert(subject, summary(constant));
    }
    facts
}

/// `float32[3], 12 bytes, 0f1e2d3c4b5a6978`
fn summary(constant: &Constant) -> String {
    let digest = constant.digest.as_ref().map_or("in another file", |digest| digest.get(..16).unwrap_or(digest));
    format!("{}, {} bytes, {digest}", constant.r#type, constant.size)
}
