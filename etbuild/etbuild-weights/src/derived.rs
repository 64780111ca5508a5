//! Derived constants: what makes the bytes, as a value, so that a result can be stored and found again.

use etbuild_ir::ConstantData;

/// A constant that is computed from stored weights.
pub trait Derived {
    /// All that decides about the bytes, as text.
    fn identity(&self) -> String;

    /// How many bytes there are.
    fn length(&self) -> usize;

    /// Hands the bytes to `take`, piece by piece, in order, and frees each piece.
    fn run(&self, take: &mut dyn FnMut(&[u8]));
}

/// The maker of derived constants, which keeps the results.
pub trait Keeper {
    /// The bytes of the constant of this name; stored bytes where known.
    fn keep(&self, name: &str, derived: &dyn Derived) -> ConstantData;
}

/// Computes at every request, and keeps the result in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct InMemory;

impl Keeper for InMemory {
    fn keep(&self, _name: &str, derived: &dyn Derived) -> ConstantData {
        let mut bytes = Vec::with_capacity(derived.length());
        derived.run(&mut |piece| bytes.extend_from_slice(piece));
        ConstantData::new(bytes)
    }
}
