//! What a binary knows of updates and bundles.

/// What a binary knows of updates and bundles.
#[derive(Clone, Copy, Debug)]
pub struct Binary {
    /// The name of the binary and its program file, without ending.
    pub name: &'static str,
    /// The program file beside the binary; `None` for one inside the binary.
    pub program: Option<&'static str>,
    /// The key of updates and bundles; `None` for a binary that takes unsigned ones.
    pub key: Option<[u8; 32]>,
}
