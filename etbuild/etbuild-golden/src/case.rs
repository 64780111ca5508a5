//! Case files: description, options, input and expected output.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use et_core::ScalarType;
use etbuild_ir::Program;

use crate::literal;
use crate::program::{self, Literals};

/// The line between the input and the expected output.
const SEPARATOR: &str = "\n---\n";

/// A parsed case file.
#[derive(Debug)]
pub struct Case {
    /// The comment lines and options, as written.
    header: String,
    options: BTreeMap<String, String>,
    /// The options that the test has read: an unread option is an error.
    read: RefCell<BTreeSet<String>>,
    input: String,
    pub(crate) expected: String,
    program: Program,
    dialect: String,
    literals: Literals,
}

impl Case {
    /// Parses a case file and verifies the input program.
    ///
    /// # Errors
    /// A file without a description, with a malformed option, or whose program does not parse or verify.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (before, expected) = text.split_once(SEPARATOR).unwrap_or((text, ""));
        let program_start = before.find("etbuild-ir ").ok_or("the case has no program")?;
        let (header, input) = before.split_at(program_start);
        let mut options = BTreeMap::new();
        let mut described = false;
        for line in header.lines() {
            if let Some(option) = line.strip_prefix("//! ") {
                let (key, value) =
                    option.split_once(": ").ok_or_else(|| format!("`{line}` is not `//! key: value`"))?;
                options.insert(key.to_owned(), value.to_owned());
            } else if let Some(comment) = line.strip_prefix("//") {
                described |= !comment.trim().is_empty();
            } else {
                return Err(format!("expected a comment before the program, found `{line}`"));
            }
        }
        if !described {
            return Err("the case does not say what it shows".to_owned());
        }
        let mut literals = Literals::default();
        let (dialect, program) = program::parse(input, &mut literals)?;
        let (read, expected) = (RefCell::default(), expected.to_owned());
        let (header, input) = (header.to_owned(), input.to_owned());
        Ok(Self { header, options, read, input, expected, program, dialect, literals })
    }

    /// The input program, valid in the dialect that the first line names.
    pub fn program(&self) -> Program {
        self.program.clone()
    }

    /// The dialect that the first line of the input names.
    pub fn dialect(&self) -> &str {
        &self.dialect
    }

    /// The option `//! key: value`.
    pub fn option(&self, key: &str) -> Option<&str> {
        self.read.borrow_mut().insert(key.to_owned());
        self.options.get(key).map(String::as_str)
    }

    /// The option `key` as a `T`.
    ///
    /// # Errors
    /// A value that is no `T`.
    pub fn parsed_option<T: FromStr>(&self, key: &str) -> Result<Option<T>, String> {
        let parse = |text: &str| text.parse().map_err(|_| format!("option `{key}` has an invalid value `{text}`"));
        self.option(key).map(parse).transpose()
    }

    /// The elements of the option `key`, a literal of `count` elements, as bytes.
    ///
    /// # Errors
    /// A value that is no literal of this type and length.
    pub fn literal(&self, key: &str, scalar_type: ScalarType, count: usize) -> Result<Option<Vec<u8>>, String> {
        self.option(key).map(|text| literal::parse(scalar_type, count, text)).transpose()
    }

    /// The program as a case file writes it.
    pub fn print(&self, dialect: &str, program: &Program) -> String {
        let text = etbuild_ir::text::print(dialect, program);
        program::abbreviate(&text, program, &self.literals)
    }

    /// The text of the file with another expected output.
    pub(crate) fn with_expected(&self, expected: &str) -> String {
        format!("{}{}{SEPARATOR}{expected}", self.header, self.input.trim_end_matches('\n'))
    }

    /// The options of the file that the test did not read.
    pub(crate) fn unread_options(&self) -> Vec<&str> {
        let read = self.read.borrow();
        self.options.keys().map(String::as_str).filter(|key| !read.contains(*key)).collect()
    }
}
