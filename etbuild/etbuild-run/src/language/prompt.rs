//! Prompts: texts, conversations, tokens, with pictures and sounds.

use et_llm::{AnswerSpec, Content, Message, NamedCall, Part, Session};

use super::{Answer, LanguageModel, Options, Tokens};
use crate::Error;

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The instructions ahead of a conversation.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool, with the result of a call.
    Tool,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::System, Self::User, Self::Assistant, Self::Tool];

    /// The name in chat templates.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn<'t> {
    /// Who says the message.
    pub role: Role,
    /// The texts, pictures and sounds of the message, in order.
    pub parts: Vec<Content<'t>>,
    /// The calls of tools that a message of the model makes, or the call whose result a message of a tool has.
    pub calls: Vec<NamedCall<'t>>,
}

impl<'t> Turn<'t> {
    /// A text of the user.
    pub fn user(text: &'t str) -> Self {
        Self::new(Role::User, vec![Content::Text(text)])
    }

    /// An answer of the model.
    pub fn assistant(text: &'t str) -> Self {
        Self::new(Role::Assistant, vec![Content::Text(text)])
    }

    /// Instructions.
    pub fn system(text: &'t str) -> Self {
        Self::new(Role::System, vec![Content::Text(text)])
    }

    /// The result of a call.
    pub fn result(call: NamedCall<'t>, text: &'t str) -> Self {
        Self { calls: vec![call], ..Self::new(Role::Tool, vec![Content::Text(text)]) }
    }

    /// A message of these parts.
    pub const fn new(role: Role, parts: Vec<Content<'t>>) -> Self {
        Self { role, parts, calls: Vec::new() }
    }

    /// The message for the chat template. A text alone is the content of the message.
    fn read(&self, session: &Session) -> Result<Message, Error> {
        let message = match self.parts.as_slice() {
            [] => Message::new(self.role.name(), ""),
            [Content::Text(text)] => Message::new(self.role.name(), *text),
            parts => session.message(self.role.name(), read(session, parts)?),
        };
        message.with_calls(&self.calls).ok_or_else(|| {
            let problem = "calls belong to messages of the model, and a single one to the message of a tool";
            et_llm::Error::question("messages", problem).into()
        })
    }
}

/// Parts as a model reads them.
fn read(session: &Session, parts: &[Content<'_>]) -> Result<Vec<Part>, Error> {
    parts.iter().map(|part| Ok(session.part(*part)?)).collect()
}

impl LanguageModel {
    /// Continues a text.
    ///
    /// # Errors
    /// A program file without a tokenizer; a text longer than the context; options out of range.
    pub fn generate(&mut self, prompt: &str, options: &Options) -> Result<Answer<'_>, Error> {
        self.begin_parts(&[Content::Text(prompt)], options)?;
        Ok(Answer::new(self))
    }

    /// Answers in a conversation.
    ///
    /// # Errors
    /// A program file without a chat template; a model that reads no pictures or sounds; a conversation longer than the context;
    /// options out of range.
    pub fn chat(&mut self, turns: &[Turn<'_>], options: &Options) -> Result<Answer<'_>, Error> {
        self.begin_turns(turns, options)?;
        Ok(Answer::new(self))
    }

    /// Continues tokens.
    ///
    /// # Errors
    /// No tokens, or more than the context; options out of range.
    pub fn generate_tokens(&mut self, tokens: &[u32], options: &Options) -> Result<Tokens<'_>, Error> {
        self.begin_tokens(tokens, options)?;
        Ok(Tokens::new(self))
    }

    /// Begins to continue a prompt of texts, pictures and sounds, for [`Self::advance`].
    ///
    /// # Errors
    /// As [`Self::generate`].
    pub fn begin_parts(&mut self, parts: &[Content<'_>], options: &Options) -> Result<(), Error> {
        self.refuse_prompts()?;
        options.refuse_conversation()?;
        let prompt = self.session.prompt_of_parts(&read(&self.session, parts)?)?;
        self.begin_prompt(prompt, AnswerSpec::default(), options)
    }

    /// Begins to answer in a conversation, for [`Self::advance`].
    ///
    /// # Errors
    /// As [`Self::chat`].
    pub fn begin_turns(&mut self, turns: &[Turn<'_>], options: &Options) -> Result<(), Error> {
        self.refuse_prompts()?;
        let (prompt, spec) = self.asked(turns, options)?;
        self.begin_prompt(prompt, spec, options)
    }

    /// The tokens of a conversation, up to the start of the answer: what the conversation takes of the context.
    ///
    /// # Errors
    /// As [`Self::chat`].
    pub fn encode_turns(&self, turns: &[Turn<'_>], options: &Options) -> Result<Vec<u32>, Error> {
        Ok(self.asked(turns, options)?.0.tokens)
    }

    fn asked(&self, turns: &[Turn<'_>], options: &Options) -> Result<(et_llm::Prompt, AnswerSpec), Error> {
        let messages = turns.iter().map(|turn| turn.read(&self.session)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.session.ask(&options.question(&messages))?)
    }

    /// Begins to continue tokens, for [`Self::advance`].
    ///
    /// # Errors
    /// As [`Self::generate_tokens`].
    pub fn begin_tokens(&mut self, tokens: &[u32], options: &Options) -> Result<(), Error> {
        self.refuse_prompts()?;
        options.refuse_conversation()?;
        if !options.stops.is_empty() {
            return Err(et_llm::Error::question("stops", "stop texts are for prompts of text").into());
        }
        self.begin(tokens.to_vec(), None, AnswerSpec::default(), options)
    }

    /// Refuses prompts for a model that makes transcripts alone.
    fn refuse_prompts(&self) -> Result<(), Error> {
        if self.session.transcriber.is_some() { Err(et_llm::Error::NoSound.into()) } else { Ok(()) }
    }

    /// Makes the pictures of a prompt those of the next text.
    fn begin_prompt(&mut self, prompt: et_llm::Prompt, spec: AnswerSpec, options: &Options) -> Result<(), Error> {
        let text = self.session.text()?;
        self.current = None;
        self.session.model.show(&prompt.tiles);
        self.begin(prompt.tokens, Some(text), spec, options)
    }
}
