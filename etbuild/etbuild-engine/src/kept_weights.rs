//! Weights that became integers, in the store: each tensor by itself, found again as long as its elements and what is made of
//! them are the same.

use std::cell::RefCell;

use etbuild_ir::ConstantData;
use etbuild_quantize::{Keeper, Kept, Work};
use etbuild_store::{Blob, BlobRef, BlobWriter, Digest};

use crate::ArtifactKind;
use crate::event::Event;
use crate::program_artifact::{Held, Weights};
use crate::stage::{Stage, interrupt};
use crate::world::{Mode, World};

/// Keeps integers and scales as blobs of the store.
pub struct KeptWeights<'world> {
    world: &'world World,
    weights: RefCell<Weights>,
}

impl<'world> KeptWeights<'world> {
    /// Nothing was asked for yet.
    pub fn new(world: &'world World) -> Self {
        Self { world, weights: RefCell::default() }
    }

    /// All that was asked for.
    pub fn into_weights(self) -> Weights {
        self.weights.into_inner()
    }

    /// What is remembered of the work, if the store still has it.
    fn known(&self, subject: &Digest, sizes: [usize; 2]) -> Option<[Blob; 2]> {
        if self.world.mode() == Mode::Rebuild {
            return None;
        }
        let digests = self.world.store().memo_get(subject)?;
        let [integers, scales] = digests.as_chunks::<32>().0 else { return None };
        let named = |digest: &[u8; 32], size: usize| BlobRef { digest: Digest(*digest), size: size as u64 };
        let blobs = [named(integers, sizes[0]), named(scales, sizes[1])];
        let has = |blob: &BlobRef| self.world.store().contains(blob).unwrap_or_else(|error| interrupt(error));
        blobs.iter().all(has).then(|| blobs.map(|blob| self.world.open_weights(&blob)))
    }

    /// Does the work; integers and scales go to the store as they are made.
    fn made(&self, work: &Work) -> [Blob; 2] {
        let writer = || self.world.store().writer().unwrap_or_else(|error| interrupt(error));
        let [mut integers, mut scales] = [writer(), writer()];
        work.run(&mut |made, of_them| {
            let append = |writer: &mut BlobWriter<'_>, bytes: &[u8]| writer.append(bytes);
            append(&mut integers, made)
                .and_then(|()| append(&mut scales, of_them))
                .unwrap_or_else(|error| interrupt(error));
        });
        [integers, scales].map(|writer| {
            let blob = writer.finish_open().unwrap_or_else(|error| interrupt(error));
            self.world.hold(&blob);
            blob
        })
    }
}

impl Keeper for KeptWeights<'_> {
    fn keep(&self, name: &str, work: &Work) -> Kept {
        let subject = format!("quantized\0{}\0{}", Stage::Quantize.code_version(), work.identity());
        let subject = Digest::of(subject.as_bytes());
        let blobs = self.known(&subject, work.lengths()).unwrap_or_else(|| {
            let made = self.made(work);
            let digests = made.each_ref().map(|blob| blob.reference().digest.0);
            // What is not remembered is computed again.
            let _ = self.world.store().memo_put(&subject, digests.as_flattened());
            self.world.tell(&Event::Quantized { tensor: name.to_owned() });
            made
        });
        let [integers, scales] = blobs.map(|blob| {
            self.weights.borrow_mut().add(ArtifactKind::Constant, blob.clone());
            let digest = etbuild_ir::Digest(blob.reference().digest.0);
            ConstantData::verified(Held(blob), digest)
        });
        Kept { integers, scales }
    }
}
