//! A method that reads one token of each of several texts: a forward pass reads the weights once for all texts.

use std::rc::Rc;

use et_module::{DataFiles, Engines, FileBytes, Kernels, Module};

use crate::method::{output_of, place, set};
use crate::{Error, Model};

/// The name of the method before the number of texts.
const DECODE: &str = "decode_";

/// The method for several texts, on the KV caches of models: row `i` of a call has the KV cache of model `i`.
pub struct Batch {
    module: Module,
    tokens: usize,
    /// The inputs with the places of the tokens in the texts.
    starts: Vec<usize>,
    /// The inputs with the positions of the tokens, in a model whose positions differ from places in a text.
    positions: Vec<usize>,
    /// The inputs that say which texts have a token, in a model whose state a text without one must keep.
    lasts: Vec<usize>,
}

impl Batch {
    /// The number of texts of the method in a model's program; `None` for a program without the method.
    ///
    /// # Errors
    /// [`Error::Module`] for a malformed program.
    pub fn size(model: &Model) -> Result<Option<usize>, Error> {
        let names = model.method_names()?;
        Ok(names.iter().filter_map(|name| name.strip_prefix(DECODE)?.parse().ok()).max())
    }

    /// Loads the method for the KV caches of `models`, at most [`Self::size`], which were loaded from the same file.
    ///
    /// # Errors
    /// [`Error::NotALanguageModel`] for a program without the method, or with other inputs; [`Error::Module`] for a method that cannot
    /// be loaded.
    pub fn load(
        file: &Rc<FileBytes>,
        data: DataFiles,
        kernels: Kernels<'_>,
        engines: &Engines,
        models: &[Model],
    ) -> Result<Self, Error> {
        let missing = || Error::NotALanguageModel("there is no method for several texts".to_owned());
        let size = models.first().map(Self::size).transpose()?.flatten().ok_or_else(missing)?;
        let lend = |name: &str| {
            let (name, index) = name.rsplit_once('@')?;
            let model = models.get(index.parse::<usize>().ok()?)?;
            model.state(name).ok().flatten()
        };
        let file = FileBytes::shared(file);
        let module = Module::load_borrowing(file, data, &format!("{DECODE}{size}"), kernels, engines, &lend)?;
        let starts = (0..size).map(|index| place(&module, &format!("start_{index}"))).collect::<Result<_, _>>()?;
        let positions = (0..size).filter_map(|index| place(&module, &format!("position_{index}")).ok()).collect();
        let lasts = (0..size).filter_map(|index| place(&module, &format!("last_{index}")).ok()).collect();
        Ok(Self { tokens: place(&module, "tokens")?, starts, positions, lasts, module })
    }

    /// The method.
    pub(crate) const fn module_mut(&mut self) -> &mut Module {
        &mut self.module
    }

    /// The number of texts of a call.
    pub const fn rows(&self) -> usize {
        self.starts.len()
    }

    /// Reads a token of each text with a token; afterwards these models have the logits behind the token. The models are those that the
    /// method was loaded for, in the same order.
    ///
    /// # Errors
    /// As [`Model::read`] of each text, before the first token is read; errors of the program, after which no model has read a text.
    pub fn read(&mut self, texts: &mut [(&mut Model, Option<u32>)]) -> Result<(), Error> {
        self.read_while(texts, || true).map(|_| ())
    }

    /// The same as long as `goes_on` holds, which is asked after each instruction; false for a pass that was ended, after which no model
    /// has read its token, and all can be read again. A model with recurrent state is read to the end.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_while(
        &mut self,
        texts: &mut [(&mut Model, Option<u32>)],
        goes_on: impl FnMut() -> bool,
    ) -> Result<bool, Error> {
        for (model, token) in texts.iter_mut() {
            match token {
                Some(token) => model.prepare(*token)?,
                None => model.make_room(),
            }
        }
        let made = self.go_through(texts, goes_on);
        made.inspect_err(|_| texts.iter_mut().for_each(|(model, _)| model.reset()))
    }

    /// Reads tokens that can be read.
    fn go_through(
        &mut self,
        texts: &mut [(&mut Model, Option<u32>)],
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<bool, Error> {
        let rows = self.starts.len();
        let token = |row: usize| texts.get(row).and_then(|(_, token)| *token).map_or(0, i64::from);
        let tokens: Vec<i64> = (0..rows).map(token).collect();
        set(&mut self.module, self.tokens, &[1, rows], &tokens)?;
        for (row, input) in self.starts.iter().enumerate() {
            let start = texts.get(row).map_or(0, |(model, _)| model.tokens().len());
            set(&mut self.module, *input, &[1], &[start as i64])?;
        }
        for (row, input) in self.positions.iter().enumerate() {
            let position = texts.get(row).map_or(0, |(model, _)| model.position());
            set(&mut self.module, *input, &[1], &[position as i64])?;
        }
        for (row, input) in self.lasts.iter().enumerate() {
            let has_token = texts.get(row).is_some_and(|(_, token)| token.is_some());
            set(&mut self.module, *input, &[1], &[if has_token { 0 } else { -1 }])?;
        }
        // Layers have written recurrent state that a pass from the beginning would write again.
        let may_end = self.lasts.is_empty();
        if !self.module.execute_while(|| !may_end || goes_on())? {
            texts.iter_mut().for_each(|(model, _)| model.was_written());
            return Ok(false);
        }
        let output = output_of(&self.module)?;
        for (row, (model, token)) in texts.iter_mut().enumerate() {
            model.accept(*token, |bytes| Ok(self.module.copy_output_part(output, row * bytes.len(), bytes)?))?;
        }
        Ok(true)
    }
}
