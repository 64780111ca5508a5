//! Inputs that are not tensors: the export fixed their values, which a caller can only confirm.

use std::fmt::{Display, Formatter};

use et_core::Value;

use crate::{Error, Module, Named};

/// A number, a text or Python's `None`.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// Python's `None`.
    None,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Double(f64),
    /// Text.
    Text(String),
}

impl Display for Constant {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => formatter.write_str("None"),
            Self::Bool(value) => write!(formatter, "{value}"),
            Self::Int(value) => write!(formatter, "{value}"),
            Self::Double(value) => write!(formatter, "{value:?}"),
            Self::Text(value) => write!(formatter, "{value:?}"),
        }
    }
}

impl Constant {
    /// The constant of a method's value; `None` for a tensor or a list.
    pub(crate) fn of(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::None => Some(Self::None),
            Value::Bool(value) => Some(Self::Bool(*value)),
            Value::Int(value) => Some(Self::Int(*value)),
            Value::Double(value) => Some(Self::Double(*value)),
            Value::String(value) => Some(Self::Text((*value).to_owned())),
            _ => None,
        }
    }

    /// Whether a caller may give this constant for `traced`: the constants are equal, or the file holds no constant; and an integer
    /// may stand for a floating-point number.
    fn stands_for(&self, traced: &Self) -> bool {
        match (self, traced) {
            (Self::Double(given), Self::Double(traced)) => given == traced || given.is_nan() && traced.is_nan(),
            (_, Self::None) => true,
            (Self::Int(given), Self::Double(traced)) => *given as f64 == *traced,
            _ => self == traced,
        }
    }
}

impl Module {
    /// Checks that input `index`, which is no tensor, was exported with this value.
    pub fn set_constant(&mut self, index: usize, given: &Constant) -> Result<(), Error> {
        let problem = match Constant::of(&self.loaded.method().input(index)?) {
            Some(traced) if given.stands_for(&traced) => return Ok(()),
            Some(traced) => format!("{given} was given, the program was made for {traced}"),
            None => format!("{given} was given, a tensor is wanted"),
        };
        Err(Error::Input { name: self.input_name(index), problem })
    }

    /// Checks the inputs of these names and ignores other inputs.
    pub fn set_constants(&mut self, given: &Named<Constant>) -> Result<(), Error> {
        for (index, name) in self.input_names().to_vec().iter().enumerate() {
            if let Some(constant) = given.get(name) {
                self.set_constant(index, constant)?;
            }
        }
        Ok(())
    }
}
