//! What products with half bytes by matrix instructions are cut into: thirty-two rows times thirty-two columns, a group at a
//! time.

/// Rows of a tile, and columns of one: two registers each way.
pub const SIDE: usize = 32;

/// Elements of a tile.
pub const TILE: usize = SIDE * SIDE;

/// Tiles of sums in scratch memory.
pub const SETS: usize = 2;

/// Bytes of a row that one instruction multiplies with.
pub const fn depth(group: usize) -> usize {
    if group.is_multiple_of(64) { 64 } else { 32 }
}

/// Whether groups are whole steps of the instructions.
pub const fn takes(group: usize) -> bool {
    group.is_multiple_of(32)
}
