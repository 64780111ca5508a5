//! What engines make of weights, in the store: each is made once, wherever and however often it is asked for.

use std::cell::RefCell;

use etbuild_backend::{Refusal, Weights};
use etbuild_ir::ConstantData;
use etbuild_partition::Keep;
use etbuild_store::{Blob, BlobRef, Digest};
use rayon::prelude::*;

use crate::program_artifact::Held;
use crate::stage::interrupt;
use crate::world::{Mode, World};

/// The store, for the engines of a stage.
pub struct EngineWeights<'w> {
    world: &'w World,
    /// The engines with their revisions.
    engines: String,
    kept: RefCell<Vec<Blob>>,
}

impl<'w> EngineWeights<'w> {
    /// For engines of these revisions.
    pub fn new(world: &'w World, engines: String) -> Self {
        Self { world, engines, kept: RefCell::default() }
    }

    /// All that was kept.
    pub fn into_blobs(self) -> Vec<Blob> {
        self.kept.into_inner()
    }
}

impl Keep for EngineWeights<'_> {
    fn keep(&self, weights: &[Weights]) -> Result<Vec<ConstantData>, Refusal> {
        let (world, engines) = (self.world, &self.engines);
        let kept = weights.par_iter().map(|weights| stored(world, engines, weights));
        let blobs = kept.collect::<Result<Vec<Blob>, Refusal>>()?;
        self.kept.borrow_mut().extend(blobs.iter().cloned());
        Ok(blobs.into_iter().map(constant).collect())
    }
}

/// The bytes of weights, made where the store does not have them.
fn stored(world: &World, engines: &str, weights: &Weights) -> Result<Blob, Refusal> {
    let subject = Digest::of(format!("{engines}\0{}", weights.identity).as_bytes());
    if let Some(known) = known(world, &subject, weights.size) {
        return Ok(world.open_weights(&known));
    }
    let mut writer = world.store().writer().unwrap_or_else(|error| interrupt(error));
    weights.content.write(&mut |piece| writer.append(piece).unwrap_or_else(|error| interrupt(error)))?;
    let blob = writer.finish_open().unwrap_or_else(|error| interrupt(error));
    world.hold(&blob);
    // What is not remembered is made again.
    let _ = world.store().memo_put(&subject, &blob.reference().digest.0);
    Ok(blob)
}

/// What was made of the same before.
fn known(world: &World, subject: &Digest, size: usize) -> Option<BlobRef> {
    let digest = world.store().memo_get(subject).filter(|_| world.mode() != Mode::Rebuild)?;
    let known = BlobRef { digest: Digest(digest.try_into().ok()?), size: size as u64 };
    world.store().contains(&known).unwrap_or_else(|error| interrupt(error)).then_some(known)
}

fn constant(blob: Blob) -> ConstantData {
    let digest = etbuild_ir::Digest(blob.reference().digest.0);
    ConstantData::verified(Held(blob), digest)
}
