//! Programs as artifacts: text, with each constant in a blob of its own.

use std::collections::{BTreeMap, BTreeSet};

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{ConstantData, Digest, Program};
use etbuild_store::BlobRef;

use crate::stage::{Products, Staged};
use crate::world::World;
use crate::{ArtifactKind, Artifacts};

/// Stores the printed program and its constants.
pub fn store(products: &mut Products<'_>, printed: &str, program: &Program) {
    products.put(ArtifactKind::Program, printed.as_bytes());
    let mut seen = BTreeSet::new();
    for graph in program.methods.values() {
        for (id, _) in graph.values_with_ids() {
            if let Some(data) = graph.constant(id)
                && seen.insert(data.digest())
            {
                products.put(ArtifactKind::Constant, data.bytes());
            }
        }
    }
}

/// The text of a stored program.
pub fn text_of(world: &World, staged: &Staged) -> Result<String, Vec<Diagnostic>> {
    let blob = staged.artifacts.get(ArtifactKind::Program).ok_or_else(|| unreadable(&"there is none"))?;
    let bytes = world.open_blob(&blob.blob()).to_vec();
    String::from_utf8(bytes).map_err(|error| unreadable(&error))
}

/// Finds the constants of a stored program by digest, mapped from the store.
pub fn constants<'a>(
    world: &'a World,
    artifacts: &'a Artifacts,
) -> impl FnMut(Digest) -> Option<ConstantData> + use<'a> {
    let constants = artifacts.iter().filter(|artifact| artifact.kind == ArtifactKind::Constant);
    let blobs: BTreeMap<[u8; 32], BlobRef> = constants.map(|artifact| (artifact.digest.0, artifact.blob())).collect();
    move |digest| {
        let blob = world.open_blob(blobs.get(&digest.0)?);
        Some(ConstantData::verified(blob, digest))
    }
}

/// A stored program does not read back: only a bug writes such a one.
pub fn unreadable(reason: &dyn std::fmt::Display) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Code::Internal, format!("a stored program cannot be read: {reason}"))]
}
