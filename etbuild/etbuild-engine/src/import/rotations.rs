//! Rotated matrices in the store: each matrix by the digest of the elements and of the rotation.

use std::cell::RefCell;

use etbuild_checkpoint::{Keeper, Rotated};
use etbuild_ir::ConstantData;
use etbuild_store::{Blob, Digest};

use crate::action::made_once;
use crate::action::program::constant;
use crate::pipeline::Stage;
use crate::session::{World, interrupt};

/// Keeps rotated matrices as blobs of the store.
pub struct KeptRotations<'world> {
    world: &'world World,
    blobs: RefCell<Vec<Blob>>,
}

impl<'world> KeptRotations<'world> {
    /// No matrix yet.
    pub fn new(world: &'world World) -> Self {
        Self { world, blobs: RefCell::default() }
    }

    /// All that was asked for.
    pub fn into_blobs(self) -> Vec<Blob> {
        self.blobs.into_inner()
    }

    /// Rotates; elements stream to the store.
    fn made(&self, subject: &Digest, rotated: &Rotated) -> Blob {
        let mut writer = made_once::writer(self.world);
        rotated.run(&mut |piece| writer.append(piece).unwrap_or_else(|error| interrupt(error)));
        let [blob] = made_once::keep(self.world, subject, [writer]);
        blob
    }
}

impl Keeper for KeptRotations<'_> {
    fn keep(&self, _name: &str, rotated: &Rotated) -> ConstantData {
        let subject = format!("rotated\0{}\0{}", Stage::Import.code_version(), rotated.identity());
        let subject = Digest::of(subject.as_bytes());
        let known = made_once::reusable(self.world, &subject, [rotated.length()]);
        let blob = known.map_or_else(|| self.made(&subject, rotated), |[blob]| blob);
        self.blobs.borrow_mut().push(blob.clone());
        constant(blob)
    }
}
