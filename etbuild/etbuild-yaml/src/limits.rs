//! How large a YAML file may be. Recipes and targets are a page long; what is far larger is a mistake or an attack.

/// Bytes in one file.
pub const FILE_BYTES: u64 = 1 << 20;

/// Nodes in one tree. What an anchor remembers and what an alias repeats counts again.
pub const NODES: usize = 20_000;

/// Lists and maps inside each other.
pub const DEPTH: usize = 64;

/// Uses of an alias in one file.
pub const ALIASES: usize = 100;

/// Mistakes reported for one tree.
pub const REPORTED: usize = 20;
