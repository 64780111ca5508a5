//! The small constants of a blob, each aligned to a cache line.

use std::collections::BTreeMap;

use et_cpu::ALIGNMENT;
use etbuild_ir::Digest;

/// Offsets and bytes of constants; equal constants are stored once.
#[derive(Default)]
pub struct Constants {
    bytes: Vec<u8>,
    known: BTreeMap<Digest, usize>,
}

impl Constants {
    /// The offset of a constant.
    pub fn add(&mut self, bytes: &[u8]) -> usize {
        let digest = Digest::of(bytes);
        if let Some(start) = self.known.get(&digest) {
            return *start;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
        self.known.insert(digest, start);
        start
    }

    /// The bytes of all constants.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
