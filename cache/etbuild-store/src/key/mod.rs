//! Keys of actions: the components, their canonical encoding, and the difference of two keys.

mod builder;
mod canonical;
mod component;
mod difference;
mod value;

pub use builder::{ActionKey, Key, KeyBuilder};
pub use component::{Class, Component};
pub use difference::Difference;
pub use value::Value;
