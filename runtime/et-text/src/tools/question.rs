//! What a conversation with tools asks for.

use et_llm::{AnswerSpec, Asked, Choice, Constraint, Error, Question, Text, Tools};

use super::format::Format;
use super::formats::format_of;
use super::grammar::grammar;
use super::harmony::{self, has_channels};
use super::reader::Reader;
use super::thinking::{Marks, Thinking};
use super::tool::{CHOICE, TOOLS, Tool};

/// The prompt of a conversation, and how the answer is made and read.
///
/// # Errors
/// As [`Text::ask`].
pub fn ask(text: &dyn Text, question: &Question<'_>) -> Result<Asked, Error> {
    let template = text.template().unwrap_or_default();
    if has_channels(template) {
        return ask_in_channels(text, question);
    }
    let tools = question.tools.map(|tools| Offered::read(template, tools)).transpose()?.flatten();
    let constraint = tools.as_ref().and_then(|tools| tools.form(text));
    if question.has_form && constraint.is_some() {
        return Err(two_forms());
    }
    let prompt = text.render(&question.conversation())?;
    let has_form = question.has_form || constraint.is_some();
    let thinking = thinking(text, &prompt, has_form);
    let inside = thinking.as_ref().filter(|thinking| thinking.is_inside());
    let behind = inside.and_then(|thinking| text.token(thinking.marks().end));
    let mut shown = tools.as_ref().map(|tools| tools.format.shown(text)).unwrap_or_default();
    // An answer that is text stays as it is; where calls are read, those in thoughts are none.
    let thinking = thinking.filter(|_| question.splits_thoughts || tools.is_some());
    let words = thinking.as_ref().map(|thinking| thinking.marks().words).into_iter().flatten();
    shown.extend(words.filter_map(|name| Some((text.special(name)?, name))));
    let calls = tools.map(|Offered { format, list, .. }| (format, list));
    let reader = Box::new(Reader::new(question.splits_thoughts, thinking, calls));
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
    fn read(template: &str, tools: &'q Tools) -> Result<Option<Self>, Error> {
        let list = listed(template, tools)?;
        if list.is_empty() {
            return Ok(None);
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

/// The tools of a conversation, for a chat template that has tools.
fn listed(template: &str, tools: &Tools) -> Result<Vec<Tool>, Error> {
    let list = Tool::list(tools)?;
    if !list.is_empty() && !template.contains(TOOLS) {
        return Err(Error::question(TOOLS, "the model's chat template has no tools"));
    }
    Ok(list)
}

/// As [`ask`], of a model that writes channels.
fn ask_in_channels(text: &dyn Text, question: &Question<'_>) -> Result<Asked, Error> {
    let template = text.template().unwrap_or_default();
    let tools = question.tools.map(|tools| listed(template, tools)).transpose()?.unwrap_or_default();
    let demands = question.tools.is_some_and(|tools| tools.choice != Choice::Auto);
    if question.has_form && demands {
        return Err(two_forms());
    }
    Ok(harmony::ask(text, question, text.render(&question.conversation())?, tools))
}

fn two_forms() -> Error {
    Error::question(CHOICE, "an answer has one form, a call of a tool or another")
}

/// Reads thoughts of a model whose template has thoughts. An answer with a form has thoughts only if the prompt begins thoughts, and if
/// their end is a token, behind which the form holds.
fn thinking(text: &dyn Text, prompt: &str, has_form: bool) -> Option<Thinking> {
    let thinking = Thinking::of(prompt, Marks::of(text.template()?)?);
    (!has_form || (thinking.is_inside() && text.token(thinking.marks().end).is_some())).then_some(thinking)
}
