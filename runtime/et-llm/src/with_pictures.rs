//! Models and conversations with pictures.

use std::rc::Rc;
use std::sync::Arc;

use et_module::{DataFiles, Engines, FileBytes, Kernels};

use crate::{Error, Message, Model, OpenedVision, Prompt, Text, Viewer, Vision};

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
        let Some(OpenedVision { viewer, encoder }) = opened else { return Ok(None) };
        for model in models {
            model.load_image(file, data()?, kernels, engines, Rc::clone(&encoder))?;
        }
        Ok(Some(viewer))
    }
}

impl Prompt {
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
