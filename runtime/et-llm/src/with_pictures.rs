//! Models, prompts and conversations with pictures or sounds.

use std::rc::Rc;
use std::sync::Arc;

use et_module::{DataFiles, Engines, FileBytes, Kernels};

use crate::{Error, Message, Model, OpenedVision, Picture, Prompt, Text, Tile, Viewer, Vision};

impl Vision {
    /// Loads the vision encoder of a program file for the models of the file, which share the encoder; `None` for a program file without
    /// one.
    ///
    /// # Errors
    /// Methods that cannot be loaded.
    pub fn load(
        self,
        file: &Rc<FileBytes>,
        data: &dyn Fn() -> Result<DataFiles, et_module::Error>,
        kernels: Kernels<'_>,
        engines: &Engines,
        models: &mut [Model],
    ) -> Result<Option<Arc<dyn Viewer>>, Error> {
        let opened = (self.open)(file, data, kernels, engines, self.read)?;
        opened.map(|opened| opened.join(file, data, kernels, engines, models)).transpose()
    }
}

impl OpenedVision {
    /// Loads the method that reads embeddings into models; the part that makes prompts is left.
    ///
    /// # Errors
    /// Methods that cannot be loaded.
    pub fn join(
        self,
        file: &Rc<FileBytes>,
        data: &dyn Fn() -> Result<DataFiles, et_module::Error>,
        kernels: Kernels<'_>,
        engines: &Engines,
        models: &mut [Model],
    ) -> Result<Arc<dyn Viewer>, Error> {
        let Self { viewer, encoder, method } = self;
        for model in models {
            model.load_image(file, data()?, kernels, engines, (method, Rc::clone(&encoder)))?;
        }
        Ok(viewer)
    }
}

impl Prompt {
    /// The prompt of a text in which a mark stands for each picture in turn: `wordings` are the texts of the pictures, with the text of an
    /// image token once for each image token. `names` are the mark, the text of an image token, and the image token in the vocabulary.
    ///
    /// # Errors
    /// [`Error::Marks`] for another number of marks than pictures; errors of the tokenizer; a text with further image tokens.
    pub fn with_tiles(
        tokenizer: &dyn Text,
        text: &str,
        begins: bool,
        names: (&str, &str, u32),
        pictures: &[Arc<Picture>],
        wordings: impl Iterator<Item = String>,
    ) -> Result<Self, Error> {
        if pictures.is_empty() {
            return Ok(Self::plain(tokenizer.encode(text, begins)?));
        }
        let (mark, image, token) = names;
        let parts: Vec<&str> = text.split(mark).collect();
        let found = parts.len() - 1;
        if found != pictures.len() {
            return Err(Error::Marks { mark: mark.to_owned(), found, pictures: pictures.len() });
        }
        let mut expanded = String::new();
        for (part, wording) in parts.into_iter().zip(wordings.chain([String::new()])) {
            expanded.push_str(part);
            expanded.push_str(&wording);
        }
        placed(tokenizer.encode(&expanded, begins)?, (image, token), pictures)
    }

    /// The prompt of a conversation, whose `text` by the chat template has the tokens that begin every text; `viewer` is the part of a model
    /// that reads pictures.
    ///
    /// # Errors
    /// Errors of the tokenizer, and of [`Viewer::prompt`].
    pub fn of_conversation(
        text: &str,
        messages: &[Message],
        tokenizer: &dyn Text,
        viewer: Option<&dyn Viewer>,
    ) -> Result<Self, Error> {
        match viewer {
            Some(viewer) => viewer.prompt(tokenizer, text, false, &Message::pictures(messages)),
            None => Ok(Self::plain(tokenizer.encode(text, false)?)),
        }
    }
}

/// Puts the image tokens of the tiles in the place of the model's image tokens.
fn placed(mut tokens: Vec<u32>, (image, model): (&str, u32), pictures: &[Arc<Picture>]) -> Result<Prompt, Error> {
    let tiles: Vec<Arc<Tile>> = pictures.iter().flat_map(|picture| &picture.tiles).cloned().collect();
    let wanted: usize = tiles.iter().map(|tile| tile.tokens().len()).sum();
    let mut images = tiles.iter().flat_map(|tile| tile.tokens());
    let mut found = 0;
    for token in tokens.iter_mut().filter(|token| **token == model) {
        found += 1;
        *token = *images.next().unwrap_or(token);
    }
    if found == wanted {
        return Ok(Prompt { tokens, tiles });
    }
    Err(Error::Text(format!(
        "the prompt has the token `{image}` {found} times, and its pictures or sounds have {wanted}"
    )))
}
