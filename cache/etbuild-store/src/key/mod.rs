//! What an action read, as one digest: the components, their canonical encoding, and how two keys differ.

mod builder;
mod canonical;
mod component;
mod difference;
mod value;

pub use builder::{ActionKey, Key, KeyBuilder};
pub use component::{Class, Component};
pub use difference::Difference;
pub use value::Value;
