//! Arenas, and allocations in arenas.

use crate::IdMap;

/// The memory plan of a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// The arenas. Memory ids count from 1.
    pub arenas: Vec<Arena>,
    /// The place of every value that needs memory: inputs, state and computed values.
    pub allocations: IdMap<Allocation>,
}

/// Memory that the caller provides before a method is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arena {
    /// The memory bank of the target.
    pub bank: String,
    /// The size in bytes.
    pub size: u64,
    /// The alignment of the start of the arena and of every offset, in bytes.
    pub alignment: u64,
}

/// A place in an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The memory id: the index of the arena, from 1.
    pub memory_id: u32,
    /// The offset from the start of the arena, in bytes.
    pub offset: u64,
}

impl MemoryPlan {
    /// The arena with this memory id.
    pub fn arena(&self, memory_id: u32) -> Option<&Arena> {
        self.arenas.get(usize::try_from(memory_id).ok()?.checked_sub(1)?)
    }
}
