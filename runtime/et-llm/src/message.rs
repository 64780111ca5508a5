//! Conversations and their messages.

use std::sync::Arc;

use crate::Picture;

/// A conversation for a chat template.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conversation<'c> {
    /// The messages.
    pub messages: &'c [Message],
    /// The tools that the model may call, a JSON list, if any.
    pub tools: Option<&'c str>,
    /// Further variables of the template, a JSON object, if any.
    pub variables: Option<&'c str>,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The role: `system`, `user`, `assistant` or `tool`.
    pub role: &'static str,
    /// The text of the message.
    pub content: String,
    /// The parts of the message, for a chat template of texts and pictures, in the place of `content`; empty for a template of texts.
    pub parts: Vec<Part>,
    /// Further keys for the chat template, such as `tool_calls`: a JSON object, whose keys replace the others.
    pub more: Option<String>,
}

impl Message {
    /// A message.
    pub fn new(role: &'static str, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), parts: Vec::new(), more: None }
    }

    /// A message of parts.
    pub fn of_parts(role: &'static str, parts: Vec<Part>) -> Self {
        Self { parts, ..Self::new(role, "") }
    }

    /// The pictures of messages, in their order.
    pub fn pictures(messages: &[Self]) -> Vec<Arc<Picture>> {
        Part::pictures(messages.iter().flat_map(|message| &message.parts))
    }
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A text.
    Text(String),
    /// A picture.
    Picture(Arc<Picture>),
}

impl Part {
    /// The pictures of parts, in their order.
    pub fn pictures<'p>(parts: impl IntoIterator<Item = &'p Self>) -> Vec<Arc<Picture>> {
        let picture = |part: &Self| match part {
            Self::Picture(picture) => Some(Arc::clone(picture)),
            Self::Text(_) => None,
        };
        parts.into_iter().filter_map(picture).collect()
    }
}
