//! The value table of a method, with equal constants stored once.

use std::collections::BTreeMap;

use et_format::write::EValue;

/// Values by index.
#[derive(Default)]
pub struct ValueTable {
    values: Vec<EValue>,
    constants: BTreeMap<ConstantValue, i32>,
}

/// A value that no instruction writes. Floating-point numbers are equal when the bits are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConstantValue {
    Null,
    Int(i64),
    Bool(bool),
    Double(u64),
    Text(String),
    /// Indices of integers.
    IntList(Vec<i64>),
    DoubleList(Vec<u64>),
    BoolList(Vec<bool>),
    /// Indices of tensors.
    TensorList(Vec<i32>),
    /// Indices of tensors, -1 for an absent tensor.
    OptionalTensorList(Vec<i32>),
}

impl ValueTable {
    /// Adds a value.
    pub fn add(&mut self, value: EValue) -> i32 {
        self.values.push(value);
        self.values.len() as i32 - 1
    }

    /// The index of a constant value; equal values share an index.
    pub fn constant(&mut self, value: ConstantValue) -> i32 {
        if let Some(index) = self.constants.get(&value) {
            return *index;
        }
        let index = self.add(value.to_evalue());
        self.constants.insert(value, index);
        index
    }

    /// The index of a list of integers. The items are values of the table.
    pub fn integers(&mut self, items: &[i64]) -> i32 {
        let indices = items.iter().map(|item| i64::from(self.constant(ConstantValue::Int(*item)))).collect();
        self.constant(ConstantValue::IntList(indices))
    }

    /// All values.
    pub fn into_values(self) -> Vec<EValue> {
        self.values
    }
}

impl ConstantValue {
    fn to_evalue(&self) -> EValue {
        match self {
            Self::Null => EValue::Null,
            Self::Int(number) => EValue::Int(*number),
            Self::Bool(flag) => EValue::Bool(*flag),
            Self::Double(bits) => EValue::Double(f64::from_bits(*bits)),
            Self::Text(text) => EValue::String(text.clone()),
            Self::IntList(items) => EValue::IntList(items.clone()),
            Self::DoubleList(items) => EValue::DoubleList(items.iter().copied().map(f64::from_bits).collect()),
            Self::BoolList(items) => EValue::BoolList(items.clone()),
            Self::TensorList(items) => EValue::TensorList(items.clone()),
            Self::OptionalTensorList(items) => EValue::OptionalTensorList(items.clone()),
        }
    }
}
