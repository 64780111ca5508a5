//! What a conversation asks for, and the parts of the answer.

use crate::{Call, Constraint, Conversation, Message, Tools};

/// A conversation to be answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Question<'q> {
    /// The messages.
    pub messages: &'q [Message],
    /// The tools that the model may call, if any.
    pub tools: Option<&'q Tools>,
    /// Further variables of the chat template, a JSON object, if any.
    pub variables: Option<&'q str>,
    /// Whether the caller constrains the answer.
    pub has_form: bool,
    /// Whether thoughts are no part of the text of the answer.
    pub splits_thoughts: bool,
}

impl<'q> Question<'q> {
    /// The conversation for the chat template.
    pub fn conversation(&self) -> Conversation<'q> {
        let tools = self.tools.map(|tools| tools.json.as_str());
        Conversation { messages: self.messages, tools, variables: self.variables }
    }
}

/// What a conversation asks for.
pub struct Asked {
    /// The conversation in the model's chat format, up to the start of the answer.
    pub prompt: String,
    /// How the answer is made and read.
    pub answer: AnswerSpec,
}

/// How an answer is made and read.
pub struct AnswerSpec {
    /// The form of the answer that the choice of a tool demands, if any.
    pub constraint: Option<Constraint>,
    /// The token behind which the form of the answer holds, if not from the beginning.
    pub behind: Option<u32>,
    /// Special tokens that are text in this answer.
    pub shown: Vec<(u32, &'static str)>,
    /// Reads the pieces of the answer.
    pub reader: Box<dyn AnswerReader>,
}

impl Default for AnswerSpec {
    /// An answer that is text.
    fn default() -> Self {
        Self { constraint: None, behind: None, shown: Vec::new(), reader: Box::new(PlainReader) }
    }
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text.
    Text(String),
    /// What the model thinks before the answer.
    Thoughts(String),
    /// A call of a tool.
    Call(Call),
}

impl Piece {
    /// Whether the piece is a text without letters.
    pub const fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) | Self::Thoughts(text) => text.is_empty(),
            Self::Call(_) => false,
        }
    }

    /// The text of pieces, without thoughts and calls.
    pub fn text(pieces: Vec<Self>) -> String {
        let text = |piece| match piece {
            Self::Text(text) => Some(text),
            Self::Thoughts(_) | Self::Call(_) => None,
        };
        pieces.into_iter().filter_map(text).collect()
    }
}

/// Reads thoughts, text and calls from an answer that comes in pieces.
pub trait AnswerReader: Send {
    /// The pieces that a further piece of text makes certain, none of them empty.
    fn push(&mut self, text: &str) -> Vec<Piece>;

    /// The pieces that were kept back, at the end of the answer.
    fn finish(&mut self) -> Vec<Piece>;

    /// A reader in the same state, for another answer.
    fn again(&self) -> Box<dyn AnswerReader>;
}

/// Reads an answer that is text.
struct PlainReader;

impl AnswerReader for PlainReader {
    fn push(&mut self, text: &str) -> Vec<Piece> {
        if text.is_empty() { Vec::new() } else { vec![Piece::Text(text.to_owned())] }
    }

    fn finish(&mut self) -> Vec<Piece> {
        Vec::new()
    }

    fn again(&self) -> Box<dyn AnswerReader> {
        Box::new(Self)
    }
}
