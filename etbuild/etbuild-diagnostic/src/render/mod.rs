//! The ways to show diagnostics. Each is a pure function from diagnostics to text.

mod github;
mod human;
mod json;
mod sarif;

pub use github::github;
pub use human::human;
pub use json::json;
pub use sarif::sarif;

#[cfg(test)]
mod sample {
    //! A diagnostic with every optional field.

    use crate::{Code, Diagnostic, Position, Span};

    /// `quantise` where `quantize` was meant, in a file whose name needs escaping.
    pub fn unknown_key() -> Diagnostic {
        let span = Span::new("my recipes/a,b.yaml", Position::new(4, 1), Position::new(4, 9));
        Diagnostic::error(Code::UnknownKey, "unknown key `quantise`")
            .at(span.with_excerpt("quantise: { scheme: int8 }"))
            .help("did you mean `quantize`?")
            .note("100% of keys\nare checked")
    }
}
