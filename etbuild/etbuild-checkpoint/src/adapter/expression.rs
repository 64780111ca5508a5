//! Regular expressions of Python. Their crates take a twentieth of the compile time of etbuild, and adapters with patterns alone need
//! them, so that feature `patterns` has them.

/// A compiled regular expression.
#[cfg(feature = "patterns")]
#[derive(Debug)]
pub struct Expression(fancy_regex::Regex);

#[cfg(feature = "patterns")]
impl Expression {
    /// `None` for a text that is no regular expression.
    pub fn new(text: &str) -> Option<Self> {
        fancy_regex::Regex::new(text).map(Self).ok()
    }

    /// Whether the expression matches a part of `text`; `None` if the search takes too long.
    pub fn matches(&self, text: &str) -> Option<bool> {
        self.0.is_match(text).ok()
    }

    /// The part of `text` that the named group matches, if any; `None` if the search takes too long.
    pub fn group<'t>(&self, text: &'t str, name: &str) -> Option<Option<&'t str>> {
        let found = self.0.captures(text).ok()?;
        Some(found.and_then(|found| found.name(name)).map(|group| group.as_str()))
    }
}

/// A regular expression of a build that has none.
#[cfg(not(feature = "patterns"))]
#[derive(Debug)]
pub enum Expression {}

#[cfg(not(feature = "patterns"))]
impl Expression {
    /// `None`: no text is an expression.
    pub const fn new(_: &str) -> Option<Self> {
        None
    }

    /// Never called, because there is no expression.
    pub const fn matches(&self, _: &str) -> Option<bool> {
        match *self {}
    }

    /// Never called, because there is no expression.
    pub const fn group<'t>(&self, _: &'t str, _: &str) -> Option<Option<&'t str>> {
        match *self {}
    }
}
