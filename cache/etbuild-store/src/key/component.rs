//! An input of an action.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Value;

/// The class of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Class {
    /// The stage; the value is the version of the stage's code.
    Stage,
    /// An option of the recipe.
    Option,
    /// An input artifact; the value is the digest.
    Input,
    /// A fact about the target.
    Fact,
    /// A tool that the action runs.
    Tool,
}

impl fmt::Display for Class {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Stage => "stage",
            Self::Option => "option",
            Self::Input => "input",
            Self::Fact => "fact",
            Self::Tool => "tool",
        })
    }
}

/// An input of an action. Prints as `option group_size = 32`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Component {
    /// The class.
    pub class: Class,
    /// The name, unique within the class where the stage reads the input once.
    pub name: String,
    /// The value.
    pub value: Value,
}

impl Component {
    /// Whether both components have the same class and name.
    pub fn same_subject(&self, other: &Self) -> bool {
        self.class == other.class && self.name == other.name
    }
}

impl fmt::Display for Component {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} = {}", self.class, self.name, self.value)
    }
}
