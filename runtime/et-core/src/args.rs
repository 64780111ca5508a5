//! The arguments of a kernel call, and the signature of kernels.
//!
//! Hosted builds inline the accessors of each call into the kernel, so that a tensor stays in registers. Bare metal
//! saves that code size.

use core::cell::Cell;

use crate::{Doubles, Error, Indices, Longs, MAX_RANK, Result, ScalarType, Tensor, Value};

/// A kernel of an out-variant: reads its arguments in schema order and writes the out tensors.
pub type Kernel = fn(&Args<'_, '_>) -> Result<()>;

/// Arguments in schema order, defaults and out tensors included.
#[derive(Clone, Copy, Debug)]
pub struct Args<'p, 'c> {
    values: &'c [Cell<Value<'p>>],
    indices: Indices<'p>,
}

/// A number argument with its original kind (boolean, integer, floating-point).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// A floating-point number.
    Double(f64),
}

impl Scalar {
    /// The number as C++'s `double`.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Bool(value) => f64::from(u8::from(value)),
            Self::Double(value) => value,
        }
    }

    /// The number as C++'s `int64_t`.
    pub fn to_i64(self) -> i64 {
        match self {
            Self::Int(value) => value,
            Self::Bool(value) => i64::from(value),
            Self::Double(value) => value as i64,
        }
    }

    /// The number as an element.
    pub fn cast<T: crate::Element>(self) -> T {
        match self {
            Self::Double(value) => T::from_f64(value),
            Self::Int(_) | Self::Bool(_) => T::from_i64(self.to_i64()),
        }
    }

    /// The result type of an operation between a tensor of type `tensor` and this number: the number counts only if its
    /// category (boolean, integer, floating-point) is higher, and then as the default type of that category.
    pub const fn promote(self, tensor: ScalarType) -> ScalarType {
        match self {
            Self::Double(_) if !tensor.is_float() => ScalarType::Float,
            Self::Int(_) if matches!(tensor, ScalarType::Bool) => ScalarType::Long,
            _ => tensor,
        }
    }
}

impl<'p, 'c> Args<'p, 'c> {
    /// Arguments that stand in slots `indices` of `values`.
    pub const fn new(values: &'c [Cell<Value<'p>>], indices: Indices<'p>) -> Self {
        Self { values, indices }
    }

    /// The number of arguments.
    pub const fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether the list is empty.
    pub const fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Argument `position` of any kind.
    #[cfg_attr(not(any(target_os = "none", debug_assertions)), inline)]
    pub fn value(&self, position: usize) -> Result<Value<'p>> {
        self.cell(position).map(Cell::get)
    }

    /// Replaces argument `position`: an operator that returns a number stores the number there.
    pub fn set(&self, position: usize, value: Value<'p>) -> Result<()> {
        self.cell(position).map(|cell| cell.set(value))
    }

    /// A tensor.
    #[cfg_attr(not(any(target_os = "none", debug_assertions)), inline)]
    pub fn tensor(&self, position: usize) -> Result<Tensor<'p>> {
        match self.value(position)? {
            Value::Tensor(tensor) => Ok(tensor),
            _ => Err(Error::InvalidType),
        }
    }

    /// A tensor or `None`.
    pub fn optional_tensor(&self, position: usize) -> Result<Option<Tensor<'p>>> {
        match self.value(position)? {
            Value::None => Ok(None),
            _ => self.tensor(position).map(Some),
        }
    }

    /// An integer.
    pub fn int(&self, position: usize) -> Result<i64> {
        match self.value(position)? {
            Value::Int(value) => Ok(value),
            _ => Err(Error::InvalidType),
        }
    }

    /// An integer or `None`.
    pub fn optional_int(&self, position: usize) -> Result<Option<i64>> {
        match self.value(position)? {
            Value::None => Ok(None),
            _ => self.int(position).map(Some),
        }
    }

    /// A boolean.
    pub fn bool(&self, position: usize) -> Result<bool> {
        match self.value(position)? {
            Value::Bool(value) => Ok(value),
            _ => Err(Error::InvalidType),
        }
    }

    /// A boolean or `None`.
    pub fn optional_bool(&self, position: usize) -> Result<Option<bool>> {
        match self.value(position)? {
            Value::None => Ok(None),
            _ => self.bool(position).map(Some),
        }
    }

    /// A number of any kind, as `double`.
    pub fn double(&self, position: usize) -> Result<f64> {
        self.scalar(position).map(Scalar::to_f64)
    }

    /// A number with its original kind.
    #[cfg_attr(not(any(target_os = "none", debug_assertions)), inline)]
    pub fn scalar(&self, position: usize) -> Result<Scalar> {
        match self.value(position)? {
            Value::Int(value) => Ok(Scalar::Int(value)),
            Value::Bool(value) => Ok(Scalar::Bool(value)),
            Value::Double(value) => Ok(Scalar::Double(value)),
            _ => Err(Error::InvalidType),
        }
    }

    /// A number with its original kind, or `None`.
    pub fn optional_scalar(&self, position: usize) -> Result<Option<Scalar>> {
        match self.value(position)? {
            Value::None => Ok(None),
            _ => self.scalar(position).map(Some),
        }
    }

    /// A scalar type, stored as its number; `None` means that the operator chooses.
    pub fn optional_scalar_type(&self, position: usize) -> Result<Option<ScalarType>> {
        let number = self.optional_int(position)?;
        let known = |number| u8::try_from(number).ok().and_then(ScalarType::from_number).ok_or(Error::InvalidType);
        number.map(known).transpose()
    }

    /// Text or `None`.
    pub fn optional_string(&self, position: usize) -> Result<Option<&'p str>> {
        match self.value(position)? {
            Value::None => Ok(None),
            Value::String(text) => Ok(Some(text)),
            _ => Err(Error::InvalidType),
        }
    }

    /// A list of at most [`MAX_RANK`] integers.
    pub fn ints(&self, position: usize) -> Result<Ints> {
        self.read_ints(self.int_slots(position)?)
    }

    /// A list of at most [`MAX_RANK`] integers, or `None`.
    pub fn optional_ints(&self, position: usize) -> Result<Option<Ints>> {
        match self.value(position)? {
            Value::None => Ok(None),
            _ => self.ints(position).map(Some),
        }
    }

    /// The length of a list of integers.
    pub fn ints_len(&self, position: usize) -> Result<usize> {
        self.int_slots(position).map(Longs::len)
    }

    /// Integer `index` of a list of any length.
    pub fn int_of(&self, position: usize, index: usize) -> Result<i64> {
        let slot = self.int_slots(position)?.get(index).ok_or(Error::InvalidArgument)?;
        self.read_int(slot)
    }

    /// A list of numbers.
    pub fn doubles(&self, position: usize) -> Result<Doubles<'p>> {
        match self.value(position)? {
            Value::DoubleList(list) => Ok(list),
            _ => Err(Error::InvalidType),
        }
    }

    /// A list of numbers, or `None`.
    pub fn optional_doubles(&self, position: usize) -> Result<Option<Doubles<'p>>> {
        match self.value(position)? {
            Value::None => Ok(None),
            _ => self.doubles(position).map(Some),
        }
    }

    /// A list of booleans, a byte each.
    pub fn bools(&self, position: usize) -> Result<&'p [u8]> {
        match self.value(position)? {
            Value::BoolList(list) => Ok(list),
            _ => Err(Error::InvalidType),
        }
    }

    /// The length of a list of tensors.
    pub fn tensors_len(&self, position: usize) -> Result<usize> {
        self.tensor_slots(position).map(Indices::len)
    }

    /// Tensor `index` of a list of tensors.
    pub fn tensor_of(&self, position: usize, index: usize) -> Result<Tensor<'p>> {
        let slot = self.tensor_slots(position)?.get(index).ok_or(Error::InvalidArgument)?;
        match self.slot(slot)?.get() {
            Value::Tensor(tensor) => Ok(tensor),
            _ => Err(Error::InvalidType),
        }
    }

    /// Tensor `index` of a list of tensors that may lack some.
    pub fn optional_tensor_of(&self, position: usize, index: usize) -> Result<Option<Tensor<'p>>> {
        let slot = self.tensor_slots(position)?.get(index).ok_or(Error::InvalidArgument)?;
        if slot == -1 { Ok(None) } else { self.tensor_of(position, index).map(Some) }
    }

    fn tensor_slots(&self, position: usize) -> Result<Indices<'p>> {
        match self.value(position)? {
            Value::TensorList(slots) | Value::OptionalTensorList(slots) => Ok(slots),
            _ => Err(Error::InvalidType),
        }
    }

    fn read_ints(&self, slots: Longs<'p>) -> Result<Ints> {
        let mut ints = Ints { values: [0; MAX_RANK], len: slots.len() };
        let room = ints.values.get_mut(..slots.len()).ok_or(Error::InvalidArgument)?;
        for (item, slot) in room.iter_mut().zip(slots.iter()) {
            *item = self.read_int(slot)?;
        }
        Ok(ints)
    }

    fn int_slots(&self, position: usize) -> Result<Longs<'p>> {
        match self.value(position)? {
            Value::IntList(slots) => Ok(slots),
            _ => Err(Error::InvalidType),
        }
    }

    fn read_int(&self, slot: i64) -> Result<i64> {
        let slot = i32::try_from(slot).map_err(|_| Error::InvalidProgram)?;
        match self.slot(slot)?.get() {
            Value::Int(value) => Ok(value),
            _ => Err(Error::InvalidType),
        }
    }

    #[cfg_attr(not(any(target_os = "none", debug_assertions)), inline)]
    fn cell(&self, position: usize) -> Result<&'c Cell<Value<'p>>> {
        self.slot(self.indices.get(position).ok_or(Error::InvalidArgument)?)
    }

    #[cfg_attr(not(any(target_os = "none", debug_assertions)), inline)]
    fn slot(&self, slot: i32) -> Result<&'c Cell<Value<'p>>> {
        usize::try_from(slot).ok().and_then(|slot| self.values.get(slot)).ok_or(Error::InvalidProgram)
    }
}

/// A short list of integers, on the stack.
#[derive(Clone, Copy, Debug)]
pub struct Ints {
    values: [i64; MAX_RANK],
    len: usize,
}

impl core::ops::Deref for Ints {
    type Target = [i64];

    fn deref(&self) -> &[i64] {
        self.values.get(..self.len).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_integers_is_read_through_its_slots() {
        let slots = [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0];
        let values = [Value::IntList(Longs::new(&slots)), Value::Int(7), Value::Int(-9)].map(Cell::new);
        let args = Args::new(&values, Indices::new(&[0; 4]));
        assert_eq!(*args.ints(0).unwrap(), [7, -9]);
        assert_eq!((args.ints_len(0), args.int_of(0, 1)), (Ok(2), Ok(-9)));
        assert_eq!(args.int_of(0, 2), Err(Error::InvalidArgument));
        assert_eq!(args.int(0), Err(Error::InvalidType));
        assert_eq!(args.int(1), Err(Error::InvalidArgument));
    }

    #[test]
    fn a_slot_outside_the_table_is_an_error() {
        let values = [Cell::new(Value::None)];
        let outside = 5_i32.to_le_bytes();
        assert!(matches!(Args::new(&values, Indices::new(&outside)).value(0), Err(Error::InvalidProgram)));
        let negative = (-1_i32).to_le_bytes();
        assert!(matches!(Args::new(&values, Indices::new(&negative)).value(0), Err(Error::InvalidProgram)));
    }

    #[test]
    fn a_number_promotes_only_across_categories() {
        assert_eq!(Scalar::Double(1.0).promote(ScalarType::Half), ScalarType::Half);
        assert_eq!(Scalar::Double(1.0).promote(ScalarType::Int), ScalarType::Float);
        assert_eq!(Scalar::Int(1).promote(ScalarType::Bool), ScalarType::Long);
        assert_eq!(Scalar::Bool(true).promote(ScalarType::Bool), ScalarType::Bool);
    }
}
