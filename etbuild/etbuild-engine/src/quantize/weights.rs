//! Quantized weights in the store: each tensor by the digest of the elements and of the
//! quantization.

use std::cell::RefCell;

use etbuild_quantize::{Keeper, Kept, Work};
use etbuild_store::{Blob, Digest};

use crate::action::program::{Weights, constant};
use crate::action::{ArtifactKind, made_once};
use crate::pipeline::Stage;
use crate::session::{Event, World, interrupt};

/// Keeps integers and scales as blobs of the store.
pub struct KeptWeights<'world> {
    world: &'world World,
    weights: RefCell<Weights>,
}

impl<'world> KeptWeights<'world> {
    /// No tensor yet.
    pub fn new(world: &'world World) -> Self {
        Self { world, weights: RefCell::default() }
    }

    /// All that was asked for.
    pub fn into_weights(self) -> Weights {
        self.weights.into_inner()
    }

    /// Quantizes; integers and scales stream to the store.
    fn made(&self, subject: &Digest, work: &Work) -> [Blob; 2] {
        let [mut integers, mut scales] = [made_once::writer(self.world), made_once::writer(self.world)];
        work.run(&mut |made: &[u8], of_them: &[u8]| {
            let appended = integers.append(made).and_then(|()| scales.append(of_them));
            appended.unwrap_or_else(|error| interrupt(error));
        });
        made_once::keep(self.world, subject, [integers, scales])
    }
}

impl Keeper for KeptWeights<'_> {
    fn keep(&self, name: &str, work: &Work) -> Kept {
        let subject = format!("quantized\0{}\0{}", Stage::Quantize.code_version(), work.identity());
        let subject = Digest::of(subject.as_bytes());
        let blobs = made_once::reusable(self.world, &subject, work.lengths()).unwrap_or_else(|| {
            let made = self.made(&subject, work);
            self.world.tell(&Event::Quantized { tensor: name.to_owned() });
            made
        });
        let [integers, scales] = blobs.map(|blob| {
            self.weights.borrow_mut().add(ArtifactKind::Constant, blob.clone());
            constant(blob)
        });
        Kept { integers, scales }
    }
}
