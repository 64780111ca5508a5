//! AMX tiling of the blockwise int4 GEMM: 32 rows x 32 columns, a block of K at a time.

/// MR and NR of a tile: two tile registers in each direction.
pub const SIDE: usize = 32;

/// Elements of a tile.
pub const TILE: usize = SIDE * SIDE;

/// Accumulator tiles in scratch memory.
pub const SETS: usize = 2;

/// K bytes per AMX instruction.
#[cfg(target_arch = "x86_64")]
pub const fn depth(group: usize) -> usize {
    if group.is_multiple_of(64) { 64 } else { 32 }
}

/// Whether the block size is a multiple of the K bytes per AMX instruction.
pub const fn takes(group: usize) -> bool {
    group.is_multiple_of(32)
}
