//! The limits of a YAML file. A recipe or target is a page long; a far larger file is a mistake or an attack.

/// Bytes in one file.
pub const FILE_BYTES: u64 = 1 << 20;

/// Nodes in a tree. Nodes under an anchor count again for each alias.
pub const NODES: usize = 20_000;

/// Levels of nested lists and maps.
pub const DEPTH: usize = 64;

/// Aliases in a file.
pub const ALIASES: usize = 100;

/// Mistakes reported for a tree.
pub const REPORTED: usize = 20;
