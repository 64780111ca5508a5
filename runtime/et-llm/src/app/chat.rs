//! A conversation.

use std::io::BufRead;
use std::rc::Rc;

use super::Request;
use super::channels::Channels;
use super::continuation::Run;
use super::form::prompt_text;
use crate::{Error, Message, Session, Text};

/// The line that begins a conversation anew.
const ANEW: &str = "/new";

/// Answers the prompt or, without one, each line of the input.
pub fn converse(session: &mut Session, request: &Request, channels: &mut Channels<'_>) -> Result<(), Error> {
    let text = session.text()?;
    let first: Vec<Message> = request.system.iter().map(|system| Message::new("system", system)).collect();
    let mut run = Run::new(session, request)?;
    let mut talk = Conversation { text, messages: first.clone(), fixed: first.len(), most: request.max_new_tokens };
    let mut tokens = Vec::new();
    if let Some(prompt) = prompt_text(request, channels)? {
        tokens = talk.answer(&mut run, &prompt, channels)?;
        return run.finish(&tokens);
    }
    while let Some(line) = next_line(channels)? {
        match line.trim() {
            "" => {}
            ANEW => talk.messages.clone_from(&first),
            message => tokens.extend(talk.answer(&mut run, message, channels)?),
        }
    }
    run.finish(&tokens)
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
    messages: Vec<Message>,
    /// How many messages at the beginning are never left out.
    fixed: usize,
    most: Option<usize>,
}

impl Conversation {
    /// Answers a message; returns the answer's tokens.
    fn answer(&mut self, run: &mut Run<'_>, message: &str, channels: &mut Channels<'_>) -> Result<Vec<u32>, Error> {
        self.messages.push(Message::new("user", message));
        let tokens = self.fitting(run)?;
        let known = run.session.model.rewind(&tokens);
        let rest = tokens.get(known..).unwrap_or_default();
        let most = self.most.unwrap_or(usize::MAX);
        let answer = run.generate(rest, most, Some(&*self.text), channels)?.tokens;
        run.tell(channels)?;
        let mut said = self.text.decode(&answer)?;
        let stop = run.request.stops.iter().filter_map(|stop| said.find(stop.as_str())).min();
        said.truncate(stop.unwrap_or(said.len()));
        self.messages.push(Message::new("assistant", said));
        Ok(answer)
    }

    /// The tokens of the conversation, without the oldest messages that exceed the context.
    fn fitting(&mut self, run: &Run<'_>) -> Result<Vec<u32>, Error> {
        loop {
            let text = self.text.conversation(&self.messages)?;
            // The template adds the tokens that begin every text.
            let tokens = self.text.encode(&text, false)?;
            let fits = run.session.model.context().is_none_or(|context| tokens.len() < context);
            let pair = self.fixed..self.fixed + 2;
            if fits || pair.end >= self.messages.len() {
                return Ok(tokens);
            }
            self.messages.drain(pair);
        }
    }
}
