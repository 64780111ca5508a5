//! One thing that an action read.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Value;

/// What kind of thing was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Class {
    /// The stage itself; the value is the version of its code.
    Stage,
    /// An option of the recipe.
    Option,
    /// An input artifact; the value is its digest.
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

/// One thing that an action read. Prints as `option group_size = 32`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Component {
    /// What kind of thing it is.
    pub class: Class,
    /// Its name, unique within its class where the stage reads it once.
    pub name: String,
    /// What it was.
    pub value: Value,
}

impl Component {
    /// Whether both say something about the same thing.
    pub fn same_subject(&self, other: &Self) -> bool {
        self.class == other.class && self.name == other.name
    }
}

impl fmt::Display for Component {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} = {}", self.class, self.name, self.value)
    }
}
