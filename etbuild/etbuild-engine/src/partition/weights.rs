//! Packed weights in the store: each is packed once for all programs.

use std::cell::RefCell;

use etbuild_backend::{Refusal, Weights as Made};
use etbuild_ir::ConstantData;
use etbuild_partition::Keep;
use etbuild_store::{Blob, Digest};
use rayon::prelude::*;

use crate::action::program::{Weights, constant};
use crate::action::{ArtifactKind, made_once};
use crate::session::{Event, World, interrupt};

/// The store, for the engines of a stage.
pub struct EngineWeights<'w> {
    world: &'w World,
    /// The engines with their revisions.
    engines: String,
    kept: RefCell<Weights>,
}

impl<'w> EngineWeights<'w> {
    /// For engines of these revisions.
    pub fn new(world: &'w World, engines: String) -> Self {
        Self { world, engines, kept: RefCell::default() }
    }

    /// All that was kept.
    pub fn into_weights(self) -> Weights {
        self.kept.into_inner()
    }
}

impl Keep for EngineWeights<'_> {
    fn keep(&self, weights: &[Made]) -> Result<Vec<ConstantData>, Refusal> {
        let (world, engines) = (self.world, &self.engines);
        let kept = weights.par_iter().map(|weights| stored(world, engines, weights));
        let blobs = kept.collect::<Result<Vec<Blob>, Refusal>>()?;
        let mut all = self.kept.borrow_mut();
        blobs.iter().for_each(|blob| all.add(ArtifactKind::Constant, blob.clone()));
        Ok(blobs.into_iter().map(constant).collect())
    }
}

/// The bytes of packed weights, made where the store lacks the bytes.
fn stored(world: &World, engines: &str, weights: &Made) -> Result<Blob, Refusal> {
    let subject = Digest::of(format!("{engines}\0{}", weights.identity).as_bytes());
    if let Some([known]) = made_once::reusable(world, &subject, [weights.size]) {
        return Ok(known);
    }
    let mut writer = made_once::writer(world);
    (weights.content)(&mut |piece| writer.append(piece).unwrap_or_else(|error| interrupt(error)))?;
    let [made] = made_once::keep(world, &subject, [writer]);
    world.tell(&Event::Packed { weights: weights.identity.clone() });
    Ok(made)
}
