//! Programs as artifacts: text, with each constant in a blob of its own.

use std::collections::BTreeMap;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{ConstantData, Digest, Program};
use etbuild_store::BlobRef;

use crate::stage::{Products, Staged};
use crate::world::World;
use crate::{ArtifactKind, Artifacts};

/// Stores the printed program and its constants, each once.
pub fn store(products: &mut Products<'_>, printed: &str, program: &Program) {
    products.put(ArtifactKind::Program, printed.as_bytes());
    let mut constants: BTreeMap<Digest, &ConstantData> = BTreeMap::new();
    for graph in program.methods.values() {
        graph.for_each_data(&mut |data| drop(constants.insert(data.digest(), data)));
    }
    let bytes: Vec<&[u8]> = constants.values().map(|data| data.bytes()).collect();
    products.put_all(ArtifactKind::Constant, &bytes);
}

/// Reads a stored program with `parse`, which takes its text and finds its constants by digest.
pub fn load<T, E: std::fmt::Display>(
    world: &World,
    staged: &Staged,
    parse: impl FnOnce(&str, &mut dyn FnMut(Digest) -> Option<ConstantData>) -> Result<T, E>,
) -> Result<T, Vec<Diagnostic>> {
    let program = staged.artifacts.get(ArtifactKind::Program).ok_or_else(|| unreadable(&"there is none"))?;
    let bytes = world.open_blob(&program.blob());
    let text = std::str::from_utf8(&bytes).map_err(|error| unreadable(&error))?;
    parse(text, &mut constants(world, &staged.artifacts)).map_err(|error| unreadable(&error))
}

/// Finds the constants of a stored program by digest, mapped from the store.
fn constants<'a>(world: &'a World, artifacts: &'a Artifacts) -> impl FnMut(Digest) -> Option<ConstantData> + use<'a> {
    let constants = artifacts.iter().filter(|artifact| artifact.kind == ArtifactKind::Constant);
    let blobs: BTreeMap<[u8; 32], BlobRef> = constants.map(|artifact| (artifact.digest.0, artifact.blob())).collect();
    move |digest| {
        let blob = world.open_blob(blobs.get(&digest.0)?);
        Some(ConstantData::verified(blob, digest))
    }
}

/// A stored program does not read back: only a bug writes such a one.
fn unreadable(reason: &dyn std::fmt::Display) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Code::Internal, format!("a stored program cannot be read: {reason}"))]
}
