//! The targets that travel inside the binary.

/// File name and text of every file of `targets/`, sorted by name.
pub const SHIPPED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));
