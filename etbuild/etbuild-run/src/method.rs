//! A loaded method with inputs and outputs.

use et_module::{Array, Constant, Module, OutputValue, TensorType};

use crate::tensor::{Fixed, Tensor, View, boxed, fill, sizes};
use crate::{Element, Error};

/// A method of a program.
///
/// Inputs are copied once, from the caller's memory to that of the program, and outputs once, because the next call overwrites the
/// memory of the program.
pub struct Method<'p> {
    module: &'p mut Module,
}

impl<'p> Method<'p> {
    pub(crate) const fn new(module: &'p mut Module) -> Self {
        Self { module }
    }

    /// The names of the inputs; `input_0`, `input_1`, ... for a file without names.
    pub fn input_names(&self) -> &[String] {
        self.module.input_names()
    }

    /// The type of input `index`; `None` for a number or text, which the export fixed.
    ///
    /// # Errors
    /// No such input.
    pub fn input_type(&self, index: usize) -> Result<Option<TensorType>, Error> {
        Ok(self.module.input_type(index)?)
    }

    /// Sets the input of this name: an array, a slice of arrays, a [`Tensor`] or a [`View`].
    ///
    /// # Errors
    /// No such input; a type or shape that does not fit.
    pub fn set<'a>(&mut self, name: &str, tensor: impl Into<View<'a>>) -> Result<(), Error> {
        let index = self.position(name)?;
        self.set_at(index, tensor)
    }

    /// Sets input `index`.
    ///
    /// # Errors
    /// No such input; a type or shape that does not fit.
    pub fn set_at<'a>(&mut self, index: usize, tensor: impl Into<View<'a>>) -> Result<(), Error> {
        Ok(self.module.set_input(index, &tensor.into().0)?)
    }

    /// Confirms a number, a text or `None`, whose value the export fixed.
    ///
    /// # Errors
    /// No such input; another value.
    pub fn confirm(&mut self, index: usize, constant: &Constant) -> Result<(), Error> {
        Ok(self.module.set_constant(index, constant)?)
    }

    /// Runs the method on the inputs that were set last.
    ///
    /// # Errors
    /// A kernel or a delegate fails.
    pub fn run(&mut self) -> Result<(), Error> {
        Ok(self.module.execute()?)
    }

    /// Runs the method as long as `goes_on` holds, which is asked after each instruction; false for an execution that was ended. A
    /// partition of a backend is one instruction.
    ///
    /// # Errors
    /// A kernel or a delegate fails.
    pub fn run_while(&mut self, goes_on: impl FnMut() -> bool) -> Result<bool, Error> {
        Ok(self.module.execute_while(goes_on)?)
    }

    /// The number of outputs.
    ///
    /// # Errors
    /// A malformed program.
    pub fn output_count(&self) -> Result<usize, Error> {
        Ok(self.module.shown_outputs()?.len())
    }

    /// Output `index` of the last execution before its elements are copied: the type and shape of a tensor, or a number or text.
    ///
    /// # Errors
    /// No such output; a list of tensors.
    pub fn output_value(&self, index: usize) -> Result<OutputValue, Error> {
        Ok(self.module.output_value(self.shown(index)?)?)
    }

    /// The tensor of output `index`.
    ///
    /// # Errors
    /// No such output; elements of another type.
    pub fn output<E: Element>(&self, index: usize) -> Result<Tensor<E>, Error> {
        let shape = self.output_shape::<E>(index)?;
        Tensor::read(shape, |bytes| self.copy_output(index, bytes).map(drop))
    }

    /// The tensor of output `index` in a type of a fixed shape.
    ///
    /// # Errors
    /// No such output; elements of another type; another shape.
    pub fn fixed_output<T: Fixed>(&self, index: usize) -> Result<Box<T>, Error> {
        let (shape, wanted) = (self.output_shape::<T::Element>(index)?, sizes::<T>());
        if shape != wanted {
            return Err(Error::Argument(format!("output {index} has the shape {shape:?}, and not {wanted:?}")));
        }
        boxed(|bytes| self.copy_output(index, bytes).map(drop))
    }

    /// Copies the elements of output `index` to the beginning of `elements`; returns their number.
    ///
    /// # Errors
    /// No such output; elements of another type; too short a slice.
    pub fn read_output<E: Element>(&self, index: usize, elements: &mut [E]) -> Result<usize, Error> {
        self.output_shape::<E>(index)?;
        let mut size = 0;
        fill(elements, |bytes| {
            size = self.copy_output(index, bytes)?;
            Ok(())
        })?;
        Ok(size / size_of::<E>())
    }

    /// Copies the bytes of output `index`, a tensor, to the beginning of `bytes`; returns their number.
    ///
    /// # Errors
    /// No such output; too few bytes.
    pub fn copy_output(&self, index: usize, bytes: &mut [u8]) -> Result<usize, Error> {
        Ok(self.module.copy_output(self.shown(index)?, bytes)?)
    }

    /// Copies the state of this name, such as a mutable buffer of the model; `None` for a name that the file does not have.
    ///
    /// # Errors
    /// A malformed program.
    pub fn state(&self, name: &str) -> Result<Option<Array>, Error> {
        Ok(self.module.attribute(name)?)
    }

    fn position(&self, name: &str) -> Result<usize, Error> {
        let names = self.module.input_names();
        let found = names.iter().position(|known| known == name);
        found.ok_or_else(|| Error::Argument(format!("no input {name}; there are: {}", names.join(", "))))
    }

    fn output_shape<E: Element>(&self, index: usize) -> Result<Vec<usize>, Error> {
        match self.output_value(index)? {
            OutputValue::Tensor(scalar_type, shape) if scalar_type == E::TYPE => {
                Ok((0..shape.rank()).map(|dim| shape.size(dim)).collect())
            }
            OutputValue::Tensor(other, _) => {
                let (wanted, other) = (E::TYPE.name(), other.name());
                Err(Error::Argument(format!("output {index} has elements of {other}, and not of {wanted}")))
            }
            _ => Err(Error::Argument(format!("output {index} is no tensor"))),
        }
    }

    /// The number of an output among all outputs.
    fn shown(&self, index: usize) -> Result<usize, Error> {
        let shown = self.module.shown_outputs()?;
        let missing = || Error::Argument(format!("no output {index}; there are {}", shown.len()));
        shown.clone().nth(index).ok_or_else(missing)
    }
}
