//! Arenas, and places in them.

use crate::IdMap;

/// Where the values of one method lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// The arenas; memory id `n` is the `n`th, counted from 1.
    pub arenas: Vec<Arena>,
    /// The place of every value that needs memory: inputs and computed values.
    pub allocations: IdMap<Allocation>,
}

/// Memory that the runtime is handed before a method is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arena {
    /// The memory bank of the target that it lies in.
    pub bank: String,
    /// The number of bytes.
    pub size: u64,
    /// What its start, and every offset in it, is a multiple of.
    pub alignment: u64,
}

/// A place in an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The arena, counted from 1.
    pub memory_id: u32,
    /// Bytes from the arena's start.
    pub offset: u64,
}

impl MemoryPlan {
    /// The arena with this memory id.
    pub fn arena(&self, memory_id: u32) -> Option<&Arena> {
        self.arenas.get(usize::try_from(memory_id).ok()?.checked_sub(1)?)
    }
}
