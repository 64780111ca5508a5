//! What the model is to continue: tokens, a text, parts, or a conversation.
#![expect(unsafe_code, reason = "C hands over pointers")]

use std::ffi::c_char;
use std::rc::Rc;

use et_llm::{AnswerSpec, Message, Part, Question, Session, Text};

use crate::held::Result;
use crate::options::Options;
use crate::pointers::text;

/// What the model is to continue.
pub(crate) struct Prompt {
    pub tokens: Vec<u32>,
    /// The decoder of the answer; `None` where tokens are wanted.
    pub text: Option<Rc<dyn Text>>,
    /// How the answer is made and read.
    pub answer: AnswerSpec,
}

impl Prompt {
    /// Tokens, whose answer is tokens.
    pub(crate) fn of_tokens(tokens: Vec<u32>) -> Self {
        Self { tokens, text: None, answer: AnswerSpec::default() }
    }

    /// A text with the tokens that begin every text.
    pub(crate) fn of_text(session: &Session, text: &str) -> Result<Self> {
        let tokenizer = session.text()?;
        Ok(Self { tokens: tokenizer.encode(text, true)?, text: Some(tokenizer), answer: AnswerSpec::default() })
    }

    /// The prompt of parts in their order.
    pub(crate) fn of_parts(session: &mut Session, parts: &[Part]) -> Result<Self> {
        let prompt = session.prompt_of_parts(parts)?;
        Self::shown(session, prompt, AnswerSpec::default())
    }

    /// A conversation.
    ///
    /// # Safety
    /// The texts of the options are terminated.
    pub(crate) unsafe fn of_messages(session: &mut Session, options: &Options, messages: &[Message]) -> Result<Self> {
        // SAFETY: the caller says so.
        let (tools, variables, form) = unsafe { (options.tools()?, options.variables()?, options.constraint()?) };
        let (has_form, splits_thoughts) = (form.is_some(), options.think.is_some());
        let question = Question { messages, tools: tools.as_ref(), variables, has_form, splits_thoughts };
        let (prompt, answer) = session.ask(&question)?;
        Self::shown(session, prompt, answer)
    }

    /// Makes the pictures of a prompt those of the next text.
    fn shown(session: &mut Session, prompt: et_llm::Prompt, answer: AnswerSpec) -> Result<Self> {
        let et_llm::Prompt { tokens, tiles } = prompt;
        session.model.show(&tiles);
        Ok(Self { tokens, text: Some(session.text()?), answer })
    }
}

/// The roles that messages may have.
const ROLES: [&str; 4] = ["system", "user", "assistant", "tool"];

/// A role that messages may have.
///
/// # Safety
/// The text is terminated.
pub(crate) unsafe fn role(name: *const c_char) -> Result<&'static str> {
    // SAFETY: the caller says so.
    let name = unsafe { text(name) }?;
    let role = ROLES.into_iter().find(|known| *known == name);
    Ok(role.ok_or("a role is none of `system`, `user`, `assistant` and `tool`")?)
}
