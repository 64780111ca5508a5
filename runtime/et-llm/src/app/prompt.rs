//! The prompt of a request: tokens, a text, or a conversation, with pictures.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use et_module::preprocess::Media;

use super::Request;
use super::channels::Channels;
use super::files::{failed, of_file, read_tokens};
use super::form::prompt_text;
use crate::{Error, Part, Picture, Prompt, Session, Viewer};

/// What a request asks to continue.
pub enum Source {
    /// Tokens.
    Tokens(Vec<u32>),
    /// A text, with pictures at the marks.
    Text(String, Vec<Arc<Picture>>),
    /// A conversation.
    Conversation(First),
}

/// The first message of a conversation.
#[derive(Default)]
pub struct First {
    /// The text; `None` for a conversation whose messages come from the input.
    pub text: Option<String>,
    /// The pictures, which come before the text.
    pub pictures: Vec<Arc<Picture>>,
}

impl Source {
    /// Reads the source of a request. A text with pictures is a message, if the model has a chat template, and if the text has no mark of
    /// a picture.
    ///
    /// # Errors
    /// [`Error::NoVision`] for pictures and [`Error::NoHearing`] for sounds that the model does not read; a file that cannot be read.
    pub fn of(session: &Session, request: &Request, channels: &mut Channels<'_>) -> Result<Self, Error> {
        if let Some(file) = &request.tokens_in {
            return read_tokens(file).map(Self::Tokens);
        }
        let text = prompt_text(request, channels)?;
        if request.images.is_empty() && request.sounds.is_empty() {
            return match text {
                text if request.chat && request.bench.is_none() => {
                    Ok(Self::Conversation(First { text, pictures: Vec::new() }))
                }
                Some(text) => Ok(Self::Text(text, Vec::new())),
                None => Err(Error::NoTokens),
            };
        }
        let viewer = session.viewer();
        let hears = viewer.as_ref().ok().map(|viewer| viewer.hears());
        if !request.images.is_empty() && hears != Some(false) {
            return Err(Error::NoVision);
        }
        if !request.sounds.is_empty() && hears != Some(true) {
            return Err(Error::NoHearing);
        }
        let viewer = viewer?;
        let files = request.images.iter().chain(&request.sounds);
        let pictures = files.map(|path| picture(&*viewer, path)).collect::<Result<Vec<_>, Error>>()?;
        if text.is_none() && !request.chat {
            return Err(Error::NoTokens);
        }
        let has_marks = text.as_ref().is_some_and(|text| text.contains(viewer.mark()));
        match text {
            Some(text) if !request.chat && (has_marks || session.text()?.template().is_none()) => {
                let marks = if has_marks { String::new() } else { viewer.mark().repeat(pictures.len()) };
                Ok(Self::Text(marks + &text, pictures))
            }
            text => Ok(Self::Conversation(First { text, pictures })),
        }
    }

    /// The prompt of tokens or of a text.
    ///
    /// # Errors
    /// Errors of the tokenizer; a text with other marks than pictures.
    pub fn prompt(self, session: &Session) -> Result<Prompt, Error> {
        match self {
            Self::Tokens(tokens) => Ok(Prompt::plain(tokens)),
            Self::Text(text, pictures) if pictures.is_empty() => {
                check_marks(session, &text)?;
                Ok(Prompt::plain(session.text()?.encode(&text, true)?))
            }
            Self::Text(text, pictures) => session.viewer()?.prompt(&*session.text()?, &text, true, &pictures),
            Self::Conversation(_) => Err(Error::NoTokens),
        }
    }
}

/// Refuses a text with marks of pictures or sounds that are not given: a mark is no text to the model.
fn check_marks(session: &Session, text: &str) -> Result<(), Error> {
    let mark = session.viewer().ok().map(|viewer| viewer.mark().to_owned()).filter(|mark| text.contains(mark));
    mark.map_or(Ok(()), |mark| Err(Error::Marks { found: text.matches(&mark).count(), mark, pictures: 0 }))
}

/// The picture of a file.
///
/// # Errors
/// [`Error::File`] for a file that cannot be read, [`Error::Picture`] for a file that is no picture.
pub fn picture(viewer: &dyn Viewer, path: &Path) -> Result<Arc<Picture>, Error> {
    let bytes = fs::read(path).map_err(|error| failed(path, &error))?;
    viewer.picture(Media::File(&bytes)).map(Arc::new).map_err(|error| of_file(path, error))
}

/// The parts of a message: pictures ahead of the text.
pub fn parts(pictures: Vec<Arc<Picture>>, text: impl Into<String>) -> Vec<Part> {
    pictures.into_iter().map(Part::Picture).chain([Part::Text(text.into())]).collect()
}
