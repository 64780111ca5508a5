//! The normalization of patches.

use etbuild_ir::ValueId;

use crate::Patches;
use crate::decoder::parts::Parts;

/// Patches, `[1, n, width]`, normalized as layers of the tower normalize.
pub fn norm(parts: &mut Parts<'_, '_>, tower: &Patches, module: &str, input: ValueId) -> ValueId {
    if tower.is_gated {
        parts.gain(module, tower.width, tower.epsilon, input)
    } else {
        parts.norm(module, tower.width, tower.epsilon, input)
    }
}
