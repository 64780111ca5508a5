//! Texts, pictures and recordings of the callers of a library.

use std::sync::Arc;

use et_module::preprocess::Media;

use crate::{AnswerSpec, Error, Message, Part, Prompt, Question, SeeHeard, Session, Transcript, Wanted};

/// A part of a prompt or of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content<'c> {
    /// A text.
    Text(&'c str),
    /// A picture.
    Picture(Media<'c>),
    /// A recording.
    Sound(Media<'c>),
}

impl Session {
    /// The part of a prompt or of a message, as the model reads the part.
    ///
    /// # Errors
    /// [`Error::NoVision`] and [`Error::NoHearing`] for a model that reads no pictures or sounds; [`Error::Picture`] and [`Error::Sound`].
    pub fn part(&self, content: Content<'_>) -> Result<Part, Error> {
        let (media, is_sound) = match content {
            Content::Text(text) => return Ok(Part::Text(text.to_owned())),
            Content::Picture(media) => (media, false),
            Content::Sound(media) => (media, true),
        };
        let viewer = self.viewer().ok().filter(|viewer| viewer.hears() == is_sound);
        let viewer = viewer.ok_or(if is_sound { Error::NoHearing } else { Error::NoVision })?;
        Ok(Part::Picture(Arc::new(viewer.picture(media)?)))
    }

    /// A message of parts. A model that reads texts alone gets one text.
    pub fn message(&self, role: &'static str, parts: Vec<Part>) -> Message {
        match self.viewer() {
            Ok(_) => Message::of_parts(role, parts),
            Err(_) => Message::new(role, marked(&parts, "")),
        }
    }

    /// The prompt of parts, one behind the other, with the tokens that begin every text.
    ///
    /// # Errors
    /// Errors of the tokenizer; a text that has the mark of a picture beside pictures.
    pub fn prompt_of_parts(&self, parts: &[Part]) -> Result<Prompt, Error> {
        let tokenizer = self.text()?;
        match self.viewer() {
            Ok(viewer) => {
                let text = marked(parts, viewer.mark());
                viewer.prompt(&*tokenizer, &text, true, &Part::pictures(parts))
            }
            Err(_) => Ok(Prompt::plain(tokenizer.encode(&marked(parts, ""), true)?)),
        }
    }

    /// The prompt of a conversation, up to the start of the answer, and how the answer is made and read.
    ///
    /// # Errors
    /// Errors of the tokenizer and of the chat template; [`Error::Question`] for tools that the model does not have.
    pub fn ask(&self, question: &Question<'_>) -> Result<(Prompt, AnswerSpec), Error> {
        let tokenizer = self.text()?;
        // The template includes the start-of-text token.
        let asked = tokenizer.ask(question)?;
        let viewer = self.viewer().ok();
        let prompt = Prompt::of_conversation(&asked.prompt, question.messages, &*tokenizer, viewer.as_deref())?;
        Ok((prompt, asked.answer))
    }

    /// The transcript of a recording; `see` hears of tokens, text and segments as they come.
    ///
    /// # Errors
    /// [`Error::NoTranscripts`] for another model; errors of [`crate::Transcriber::transcribe`].
    pub fn transcribe(
        &mut self,
        recording: Media<'_>,
        wanted: &Wanted,
        see: SeeHeard<'_>,
    ) -> Result<Transcript, Error> {
        let text = self.text()?;
        let transcriber = self.transcriber.as_mut().ok_or(Error::NoTranscripts)?;
        transcriber.transcribe(&mut self.model, &*text, recording, wanted, see)
    }
}

/// The texts of parts, with a mark for each picture.
fn marked(parts: &[Part], mark: &str) -> String {
    let mut text = String::new();
    for part in parts {
        text.push_str(match part {
            Part::Text(text) => text,
            Part::Picture(_) => mark,
        });
    }
    text
}
