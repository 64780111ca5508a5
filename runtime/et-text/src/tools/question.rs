//! What a conversation with tools asks for.

use et_llm::{AnswerSpec, Asked, Choice, Constraint, Error, Question, Text, Tools};

use super::format::Format;
use super::formats::format_of;
use super::grammar::grammar;
use super::reader::Reader;
use super::thinking::{BEGIN, END, Thinking};
use super::tool::{CHOICE, TOOLS, Tool};

/// The prompt of a conversation, and how the answer is made and read.
///
/// # Errors
/// As [`Text::ask`].
pub fn ask(text: &dyn Text, question: &Question<'_>) -> Result<Asked, Error> {
    let tools = question.tools.map(|tools| Offered::read(text, tools)).transpose()?.flatten();
    let constraint = tools.as_ref().and_then(|tools| tools.form(text));
    if question.has_form && constraint.is_some() {
        return Err(Error::question(CHOICE, "an answer has one form, a call of a tool or another"));
    }
    let prompt = text.render(&question.conversation())?;
    let has_form = question.has_form || constraint.is_some();
    let thinking = thinking(text, &prompt, has_form);
    let behind = thinking.as_ref().filter(|thinking| thinking.is_inside()).and_then(|_| text.token(END));
    let mut shown = tools.as_ref().map(|tools| tools.format.shown(text)).unwrap_or_default();
    let thinking = thinking.filter(|_| question.splits_thoughts);
    if question.splits_thoughts {
        shown.extend([BEGIN, END].into_iter().filter_map(|name| Some((text.special(name)?, name))));
    }
    let calls = tools.map(|Offered { format, list, .. }| (format, list.into_iter().map(|tool| tool.name).collect()));
    let reader = Box::new(Reader::new(thinking, calls));
    Ok(Asked { prompt, answer: AnswerSpec { constraint, behind, shown, reader } })
}

/// Tools, and how the model calls tools.
struct Offered<'q> {
    tools: &'q Tools,
    list: Vec<Tool>,
    format: &'static Format,
}

impl<'q> Offered<'q> {
    /// The tools of a conversation, in the format of the chat template; `None` for an empty list.
    fn read(text: &dyn Text, tools: &'q Tools) -> Result<Option<Self>, Error> {
        let list = Tool::list(tools)?;
        if list.is_empty() {
            return Ok(None);
        }
        let template = text.template().unwrap_or_default();
        if !template.contains(TOOLS) {
            return Err(Error::question(TOOLS, "the model's chat template has no tools"));
        }
        let unknown = "the model's chat template has tool calls in a format that is not known";
        let format = format_of(template).ok_or_else(|| Error::question(TOOLS, unknown))?;
        Ok(Some(Self { tools, list, format }))
    }

    /// The form of an answer that has to be a call; `None` for any answer.
    fn form(&self, text: &dyn Text) -> Option<Constraint> {
        let (tools, is_several): (Vec<&Tool>, bool) = match &self.tools.choice {
            Choice::Auto => return None,
            Choice::Required => (self.list.iter().collect(), self.tools.is_several),
            Choice::Named(name) => (self.list.iter().filter(|tool| tool.name == *name).collect(), false),
        };
        Some(Constraint::Grammar(grammar(self.format, &tools, is_several, text)))
    }
}

/// Reads thoughts of a model whose template has thoughts. An answer with a form has thoughts only if the prompt begins thoughts, and if
/// their end is a token, behind which the form holds.
fn thinking(text: &dyn Text, prompt: &str, has_form: bool) -> Option<Thinking> {
    let template = text.template()?;
    let thinking = (template.contains(BEGIN) && template.contains(END)).then(|| Thinking::of(prompt))?;
    (!has_form || (thinking.is_inside() && text.token(END).is_some())).then_some(thinking)
}
