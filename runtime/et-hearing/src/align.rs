//! The states that the tokens of a transcript attend to, by the method `align`.

use std::rc::Rc;

use et_core::ScalarType;
use et_llm::{Error, Model};
use et_module::{DataFiles, Engines, FileBytes, Kernels, Module, TensorView};

/// The method: tokens in, probabilities of cross-attention out.
pub const METHOD: &str = "align";

/// The loaded method.
pub struct AlignMethod {
    module: Module,
    /// The positions of `tokens`, `start` and `last`.
    inputs: [usize; 3],
    /// The tokens of a call.
    piece: usize,
}

/// The probabilities of a head: for each token, those of the states.
pub type Attended = Vec<Vec<f32>>;

impl AlignMethod {
    /// Loads the method beside a model.
    ///
    /// # Errors
    /// [`Error::NotALanguageModel`] for other inputs; a method that cannot be loaded.
    pub fn load(
        model: &Model,
        file: &Rc<FileBytes>,
        data: DataFiles,
        kernels: Kernels<'_>,
        engines: &Engines,
    ) -> Result<Self, Error> {
        let module = model.load_beside(file, data, METHOD, kernels, engines)?;
        let names = module.stored_input_names().unwrap_or_default();
        let place = |name: &str| {
            let missing = || Error::NotALanguageModel(format!("`{METHOD}` has no input `{name}`"));
            names.iter().position(|found| found == name).ok_or_else(missing)
        };
        let inputs = [place("tokens")?, place("start")?, place("last")?];
        let piece = module.input_type(inputs[0])?.and_then(|input| input.shape.last().copied()).unwrap_or(1).max(1);
        Ok(Self { module, inputs, piece })
    }

    /// The probabilities of each head, of all tokens of a text.
    ///
    /// # Errors
    /// Errors of the program.
    pub fn read(&mut self, text: &[u32]) -> Result<Vec<Attended>, Error> {
        let mut heads: Vec<Attended> = Vec::new();
        for (index, chunk) in text.chunks(self.piece).enumerate() {
            let mut tokens: Vec<i64> = chunk.iter().copied().map(i64::from).collect();
            tokens.resize(self.piece, 0);
            let [place, start, last] = self.inputs;
            self.set(place, &[1, self.piece], &tokens)?;
            self.set(start, &[1], &[(index * self.piece) as i64])?;
            self.set(last, &[1], &[chunk.len() as i64 - 1])?;
            self.module.execute()?;
            let output = self.module.output(self.module.output_count()?.saturating_sub(1))?;
            let [_, count, rows, states] = output.shape[..] else {
                return Err(Error::NotALanguageModel(format!("`{METHOD}` gives another shape")));
            };
            let numbers: Vec<f32> = output.bytes.as_chunks().0.iter().copied().map(f32::from_le_bytes).collect();
            heads.resize(count, Vec::new());
            for (head, all) in heads.iter_mut().zip(numbers.chunks((rows * states).max(1))) {
                head.extend(all.chunks(states.max(1)).take(chunk.len()).map(<[f32]>::to_vec));
            }
        }
        Ok(heads)
    }

    fn set(&mut self, input: usize, shape: &[usize], numbers: &[i64]) -> Result<(), Error> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let view = TensorView { scalar_type: ScalarType::Long, shape: shape.to_vec(), bytes: &bytes };
        Ok(self.module.set_input(input, &view)?)
    }
}
