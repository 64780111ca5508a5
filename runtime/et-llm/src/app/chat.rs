//! A conversation.

use std::io::BufRead;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use super::Request;
use super::channels::Channels;
use super::continuation::Run;
use super::prompt::{First, parts, picture};
use crate::{AnswerSpec, Error, Message, Picture, Prompt, Question, Session, Text, Viewer};

/// The line that begins a conversation anew.
const ANEW: &str = "/new";
/// The beginning of a line that adds a picture to the next message.
const IMAGE: &str = "/image ";
/// The beginning of a line that adds a sound.
const AUDIO: &str = "/audio ";

/// Answers the first message or, without its text, each line of the input, behind `earlier` messages; returns all messages.
pub fn converse(
    session: &mut Session,
    request: &Request,
    earlier: Vec<Message>,
    first: First,
    channels: &mut Channels<'_>,
) -> Result<Vec<Message>, Error> {
    let (text, viewer) = (session.text()?, session.viewer().ok());
    let system: Vec<Message> = request.system.iter().map(|system| Message::new("system", system)).collect();
    let (messages, most) = (if earlier.is_empty() { system.clone() } else { earlier }, request.max_new_tokens);
    let fixed = messages.iter().take_while(|message| message.role == "system").count();
    let variables = request.template_variables.clone();
    let mut talk = Conversation { text, viewer, messages, fixed, variables, most };
    let mut run = Run::new(session, request)?;
    let (mut tokens, mut pictures) = (Vec::new(), first.pictures);
    if let Some(prompt) = first.text {
        tokens = talk.answer(&mut run, pictures, &prompt, channels)?;
        return run.finish(&tokens).map(|()| talk.messages);
    }
    while let Some(line) = next_line(channels)? {
        let line = line.trim();
        let adds = if talk.viewer.as_ref().is_some_and(|viewer| viewer.hears()) { AUDIO } else { IMAGE };
        match (line, line.strip_prefix(adds), &talk.viewer) {
            ("", ..) => {}
            (ANEW, ..) => (talk.messages, talk.fixed) = (system.clone(), system.len()),
            (_, Some(_), Some(_)) if request.session.is_some() => {
                writeln!(channels.talk, "a session keeps no pictures and no recordings")?;
            }
            (_, Some(path), Some(viewer)) => match picture(&**viewer, Path::new(path.trim())) {
                Ok(picture) => pictures.push(picture),
                // A mistyped name does not end a conversation.
                Err(error) => writeln!(channels.talk, "{error}")?,
            },
            (message, ..) => {
                let pictures = std::mem::take(&mut pictures);
                match talk.answer(&mut run, pictures, message, channels) {
                    Ok(more) => tokens.extend(more),
                    // A message that is too long does not end a conversation either.
                    Err(error @ Error::ContextFull { .. }) => {
                        writeln!(channels.talk, "{error}: the conversation goes on without the message")?;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
    }
    run.finish(&tokens).map(|()| talk.messages)
}

/// The next line of the input; `None` at the end.
fn next_line(channels: &mut Channels<'_>) -> Result<Option<String>, Error> {
    write!(channels.talk, "> ")?;
    channels.talk.flush()?;
    let mut line = String::new();
    let read = BufRead::read_line(channels.input, &mut line)?;
    if read == 0 {
        writeln!(channels.talk)?;
    }
    Ok((read > 0).then_some(line))
}

struct Conversation {
    text: Rc<dyn Text>,
    /// The part that makes prompts of texts and pictures, for a model that reads pictures.
    viewer: Option<Arc<dyn Viewer>>,
    messages: Vec<Message>,
    /// How many messages at the beginning are never left out.
    fixed: usize,
    /// Variables of the chat template, a JSON object.
    variables: Option<String>,
    most: Option<usize>,
}

impl Conversation {
    /// Answers a message; returns the answers' tokens. The conversation has no message that has no answer.
    ///
    /// # Errors
    /// [`Error::ContextFull`] for a message that is longer than the context with the first messages; errors of the model.
    fn answer(
        &mut self,
        run: &mut Run<'_>,
        pictures: Vec<Arc<Picture>>,
        message: &str,
        channels: &mut Channels<'_>,
    ) -> Result<Vec<u32>, Error> {
        let before = self.messages.clone();
        self.reply(run, pictures, message, channels).inspect_err(|_| self.messages = before)
    }

    fn reply(
        &mut self,
        run: &mut Run<'_>,
        pictures: Vec<Arc<Picture>>,
        message: &str,
        channels: &mut Channels<'_>,
    ) -> Result<Vec<u32>, Error> {
        self.messages.push(match pictures.is_empty() {
            true => Message::new("user", message),
            false => Message::of_parts("user", parts(pictures, message)),
        });
        let (Prompt { tokens, tiles }, spec) = self.fitting(run)?;
        run.session.model.show(&tiles);
        let most = self.most.unwrap_or(usize::MAX);
        let answers = run.answers(&tokens, most, Some(&*self.text), &spec, channels)?;
        if let Some(said) = answers.first() {
            self.messages.push(Message::new("assistant", &said.text));
        }
        Ok(answers.into_iter().flat_map(|said| said.tokens).collect())
    }

    /// The prompt of the conversation, without the oldest messages that exceed the context.
    fn fitting(&mut self, run: &Run<'_>) -> Result<(Prompt, AnswerSpec), Error> {
        loop {
            let (variables, has_form) = (self.variables.as_deref(), run.has_form());
            let messages = &self.messages;
            let asked =
                self.text.ask(&Question { messages, variables, has_form, tools: None, splits_thoughts: true })?;
            let prompt = Prompt::of_conversation(&asked.prompt, messages, &*self.text, self.viewer.as_deref())?;
            let fits = run.session.model.context().is_none_or(|context| prompt.tokens.len() < context);
            let pair = self.fixed..self.fixed + 2;
            if fits || pair.end >= self.messages.len() {
                return Ok((prompt, asked.answer));
            }
            self.messages.drain(pair);
        }
    }
}
