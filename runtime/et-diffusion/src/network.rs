//! A method of a pipeline: numbers in, numbers out.

use et_module::{DataFiles, Engines, FileBytes, Module, TensorType, TensorView};

use crate::elements::{is_whole, to_bytes, to_floats};
use crate::{Error, Loading};

/// A loaded method.
pub struct Network {
    name: &'static str,
    module: Module,
    inputs: Vec<(String, TensorType)>,
}

impl Network {
    /// Loads a method.
    ///
    /// # Errors
    /// A program that cannot be loaded, or whose inputs are no tensors.
    pub fn load(file: FileBytes, name: &'static str, loading: &Loading<'_>, engines: &Engines) -> Result<Self, Error> {
        let data = DataFiles::open(loading.data)?;
        let module = Module::load_method(file, data, name, loading.kernels, engines)?;
        let names = module.stored_input_names().unwrap_or_default();
        let tensor = |(index, input): (usize, String)| {
            let wanted = module.input_type(index)?;
            let wanted = wanted.ok_or_else(|| malformed(name, &format!("the input `{input}` is no tensor")))?;
            Ok((input, wanted))
        };
        let inputs = names.into_iter().enumerate().map(tensor).collect::<Result<_, Error>>()?;
        Ok(Self { name, module, inputs })
    }

    /// The position of the only input.
    ///
    /// # Errors
    /// [`Error::NotAPipeline`] for several inputs.
    pub fn only_input(&self) -> Result<usize, Error> {
        if self.inputs.len() == 1 { Ok(0) } else { Err(malformed(self.name, "the method has not exactly one input")) }
    }

    /// The position of an input.
    ///
    /// # Errors
    /// [`Error::NotAPipeline`] for a missing input.
    pub fn input(&self, name: &str) -> Result<usize, Error> {
        let place = self.inputs.iter().position(|(found, _)| found == name);
        place.ok_or_else(|| malformed(self.name, &format!("an input `{name}` is missing")))
    }

    /// The sizes of an input of a rank.
    ///
    /// # Errors
    /// [`Error::NotAPipeline`] for another rank.
    pub fn sizes<const RANK: usize>(&self, index: usize) -> Result<[usize; RANK], Error> {
        let sizes = self.inputs.get(index).and_then(|(_, wanted)| wanted.shape.as_slice().try_into().ok());
        sizes.ok_or_else(|| malformed(self.name, &format!("input {index} has not the rank {RANK}")))
    }

    /// Whether an input takes integers only.
    pub fn takes_integers(&self, index: usize) -> bool {
        self.inputs.get(index).is_some_and(|(_, wanted)| is_whole(wanted.scalar_type))
    }

    /// Sets an input to numbers, which begin anew where the input has more elements.
    ///
    /// # Errors
    /// A number of elements or a type that does not fit.
    pub fn set(&mut self, index: usize, numbers: &[f32]) -> Result<(), Error> {
        let (name, TensorType { scalar_type, shape, .. }) =
            self.inputs.get(index).ok_or_else(|| malformed(self.name, "an input is missing"))?;
        let count: usize = shape.iter().product();
        if numbers.is_empty() || !count.is_multiple_of(numbers.len()) {
            let problem =
                format!("the input `{name}` has the sizes {shape:?}, and {} numbers are given", numbers.len());
            return Err(malformed(self.name, &problem));
        }
        let repeated: Vec<f32> = numbers.iter().copied().cycle().take(count).collect();
        let bytes = to_bytes(*scalar_type, &repeated)
            .ok_or_else(|| malformed(self.name, &format!("the input `{name}` has elements of another type")))?;
        let view = TensorView { scalar_type: *scalar_type, shape: shape.clone(), bytes: &bytes };
        Ok(self.module.set_input(index, &view)?)
    }

    /// Executes the method and returns the first output with the sizes.
    ///
    /// # Errors
    /// A failure of the method; an output of another type; [`Error::NoNumbers`].
    pub fn run(&mut self) -> Result<(Vec<usize>, Vec<f32>), Error> {
        self.module.execute()?;
        let output = self.module.output(0)?;
        let numbers = to_floats(output.scalar_type, &output.bytes)
            .ok_or_else(|| malformed(self.name, "the output has elements of another type than floating point"))?;
        let is_finite = numbers.iter().all(|number| number.is_finite());
        if is_finite { Ok((output.shape, numbers)) } else { Err(Error::NoNumbers(self.name)) }
    }
}

impl Drop for Network {
    /// The weights leave memory: the next method of the picture has it.
    fn drop(&mut self) {
        self.module.release_weights();
    }
}

/// The error for a method of another form.
pub fn malformed(method: &str, reason: &str) -> Error {
    Error::NotAPipeline(format!("`{method}`: {reason}"))
}
