//! AMX.

/// Whether the kernel lets this process use tiles.
pub fn permitted() -> bool {
    false
}
