//! Dynamic sizes: the words of a blob that depend on the sizes of the inputs, as formulas.
//!
//! A [`Variable`] is a size of an input. A [`Quantity`] is linear in the variables, divided and rounded down: the size of a result,
//! such as `(height + 1) / 2`. A [`Formula`] is a product of quantities, such as the number of an image's pixels. A call copies the
//! words of slots, instructions and output shapes to scratch memory, and writes the value of each formula to its word.

use et_core::{Args, Error, MAX_RANK, Result, Shape};
use et_record::{Record, Words, records};

records! {
    /// A dynamic size of an input tensor.
    pub struct Variable {
        /// The position of the input.
        pub input: u32,
        /// The dimension.
        pub dim: u32,
    }

    /// A variable times a factor.
    pub struct SizeTerm {
        /// The index of the variable.
        pub variable: u32,
        /// The factor; 0 for no term.
        pub factor: u32,
    }

    /// The sum of terms and an offset, divided by a divisor and rounded down.
    pub struct Quantity {
        /// The terms.
        pub terms: [SizeTerm; 2],
        /// The offset.
        pub offset: i32,
        /// The divisor, at least 1.
        pub divisor: u32,
    }

    /// A word of a call: a product of quantities and a factor, plus an offset.
    pub struct Formula {
        /// The word, counted from the first slot on: slots, instructions, output shapes.
        pub word: u32,
        /// The factor.
        pub factor: u32,
        /// The indices of quantities plus 1; 0 for none.
        pub quantities: [u32; 4],
        /// The offset.
        pub offset: i32,
    }

    /// The shape of an output.
    pub struct OutputShape {
        /// The number of dimensions.
        pub rank: u32,
        /// The sizes, outermost first.
        pub sizes: [u32; MAX_RANK],
    }
}

/// The largest number of quantities of a blob.
pub const MOST_QUANTITIES: usize = 64;

/// The serialized variables, quantities and formulas of a blob; empty for static sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes<'a> {
    variables: Words<'a>,
    quantities: Words<'a>,
    formulas: Words<'a>,
}

impl<'a> Sizes<'a> {
    /// Takes the sections with these numbers of variables, quantities and formulas.
    pub(crate) fn take(words: &mut Words<'a>, [variables, quantities, formulas]: [u32; 3]) -> Option<Self> {
        let mut section = |count: u32, size: usize| words.take((count as usize).checked_mul(size)?);
        Some(Self {
            variables: section(variables, words_of::<Variable>())?,
            quantities: section(quantities, words_of::<Quantity>())?,
            formulas: section(formulas, words_of::<Formula>())?,
        })
    }

    /// Writes the value of each formula to its word.
    pub(crate) fn write(&self, arguments: &Args<'_, '_>, words: &mut [[u8; 4]]) -> Result<()> {
        let quantities = self.quantities(arguments)?;
        for formula in records::<Formula>(self.formulas) {
            let formula = formula?;
            let value = formula.value(&quantities).ok_or(Error::InvalidArgument)?;
            *words.get_mut(formula.word as usize).ok_or(Error::InvalidProgram)? = value.to_le_bytes();
        }
        Ok(())
    }

    fn quantities(&self, arguments: &Args<'_, '_>) -> Result<[i64; MOST_QUANTITIES]> {
        let mut values = [0; MOST_QUANTITIES];
        for (index, quantity) in records::<Quantity>(self.quantities).enumerate() {
            let value = quantity?.value(|index| self.variable(index, arguments)).ok_or(Error::InvalidProgram)?;
            *values.get_mut(index).ok_or(Error::InvalidProgram)? = value;
        }
        Ok(values)
    }

    fn variable(&self, index: u32, arguments: &Args<'_, '_>) -> Option<i64> {
        let mut words = self.variables;
        words.take((index as usize).checked_mul(words_of::<Variable>())?)?;
        let variable = Variable::read(&mut words)?;
        let tensor = arguments.tensor(variable.input as usize).ok()?;
        i64::try_from(tensor.size(variable.dim as usize)).ok()
    }
}

impl Quantity {
    /// The value for the variables by index; `None` without a variable or a divisor, and on overflow.
    pub fn value(&self, variable: impl Fn(u32) -> Option<i64>) -> Option<i64> {
        let mut sum = i64::from(self.offset);
        for term in self.terms.iter().filter(|term| term.factor > 0) {
            sum = sum.checked_add(variable(term.variable)?.checked_mul(i64::from(term.factor))?)?;
        }
        sum.checked_div_euclid(i64::from(self.divisor))
    }
}

impl Formula {
    /// The value for the quantities; `None` for a value that is no word.
    pub fn value(&self, quantities: &[i64]) -> Option<u32> {
        let mut value = i64::from(self.factor);
        for quantity in self.quantities.iter().filter(|quantity| **quantity > 0) {
            value = value.checked_mul(*quantities.get(*quantity as usize - 1)?)?;
        }
        u32::try_from(value.checked_add(i64::from(self.offset))?).ok()
    }
}

/// Sets the shapes of the outputs, which follow the inputs of a call.
pub(crate) fn resize_outputs(shapes: Words<'_>, inputs: usize, arguments: &Args<'_, '_>) -> Result<()> {
    for (index, output) in records::<OutputShape>(shapes).enumerate() {
        let output = output?;
        let sizes = output.sizes.get(..output.rank as usize).ok_or(Error::InvalidProgram)?;
        let mut shape = Shape::SCALAR;
        for size in sizes {
            shape.push(i32::try_from(*size).map_err(|_| Error::InvalidArgument)?)?;
        }
        arguments.tensor(inputs.saturating_add(index))?.resize(&shape)?;
    }
    Ok(())
}

/// The words of a record of a fixed size.
const fn words_of<T>() -> usize {
    size_of::<T>() / 4
}

/// The words of an output shape.
pub(crate) const SHAPE_WORDS: usize = words_of::<OutputShape>();

fn records<T: Record>(mut words: Words<'_>) -> impl Iterator<Item = Result<T>> {
    core::iter::from_fn(move || (!words.is_empty()).then(|| T::read(&mut words).ok_or(Error::InvalidProgram)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_a_product_of_quantities() {
        let mut quantities = [0; MOST_QUANTITIES];
        quantities[..3].copy_from_slice(&[5, 7, i64::MAX]);
        let formula = Formula { word: 9, factor: 3, quantities: [1, 2, 0, 0], offset: -4 };
        assert_eq!(formula.value(&quantities), Some(101));
        assert_eq!(Formula { quantities: [3, 2, 0, 0], ..formula }.value(&quantities), None);
        assert_eq!(Formula { quantities: [65, 0, 0, 0], ..formula }.value(&quantities), None);
        assert_eq!(Formula { offset: -400, ..formula }.value(&quantities), None);
    }
}
