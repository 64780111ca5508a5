//! Derived weights in the store, such as rotated or decoded matrices: each by the digest of all that decides about the bytes.

use std::cell::RefCell;

use etbuild_ir::ConstantData;
use etbuild_store::{Blob, Digest};
use etbuild_weights::{Derived, Keeper};

use crate::action::made_once;
use crate::action::program::constant;
use crate::pipeline::Stage;
use crate::session::{World, interrupt};

/// Keeps derived weights as blobs of the store.
pub struct KeptWeights<'world> {
    world: &'world World,
    blobs: RefCell<Vec<Blob>>,
}

impl<'world> KeptWeights<'world> {
    /// No blob yet.
    pub fn new(world: &'world World) -> Self {
        Self { world, blobs: RefCell::default() }
    }

    /// All that was asked for.
    pub fn into_blobs(self) -> Vec<Blob> {
        self.blobs.into_inner()
    }

    /// Computes; bytes stream to the store.
    fn made(&self, subject: &Digest, derived: &dyn Derived) -> Blob {
        let mut writer = made_once::writer(self.world);
        derived.run(&mut |piece| writer.append(piece).unwrap_or_else(|error| interrupt(error)));
        let [blob] = made_once::keep(self.world, subject, [writer]);
        blob
    }
}

impl Keeper for KeptWeights<'_> {
    fn keep(&self, _name: &str, derived: &dyn Derived) -> ConstantData {
        let subject = format!("derived\0{}\0{}", Stage::Import.code_version(), derived.identity());
        let subject = Digest::of(subject.as_bytes());
        let known = made_once::reusable(self.world, &subject, [derived.length()]);
        let blob = known.map_or_else(|| self.made(&subject, derived), |[blob]| blob);
        self.blobs.borrow_mut().push(blob.clone());
        constant(blob)
    }
}
