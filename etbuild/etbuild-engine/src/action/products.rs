//! The outputs of a stage.

use etbuild_store::{BlobRef, BlobWriter};
use rayon::prelude::*;

use super::artifact::{ArtifactKind, ArtifactRef};
use crate::session::{World, interrupt};

/// Collects the outputs of a stage, in the store.
pub struct Products<'world> {
    world: &'world World,
    made: Vec<ArtifactRef>,
    by_worker: bool,
}

impl<'world> Products<'world> {
    /// No output yet.
    pub const fn new(world: &'world World) -> Self {
        Self { world, made: Vec::new(), by_worker: false }
    }

    /// The outputs, and whether a worker of the remote cache did the work.
    pub fn into_parts(self) -> (Vec<ArtifactRef>, bool) {
        (self.made, self.by_worker)
    }

    /// The writer of an artifact that is too large for memory; [`Products::finish`] stores the artifact.
    pub fn writer(&self) -> BlobWriter<'world> {
        self.world.store().writer().unwrap_or_else(|error| interrupt(error))
    }

    /// Stores the written artifact.
    pub fn finish(&mut self, kind: ArtifactKind, writer: BlobWriter<'world>) {
        let BlobRef { digest, size } = writer.finish().unwrap_or_else(|error| interrupt(error));
        self.made.push(ArtifactRef { digest, size, kind });
    }

    /// Adds an artifact that is stored already, so that the record lists the artifact.
    pub fn adopt(&mut self, kind: ArtifactKind, BlobRef { digest, size }: BlobRef) {
        self.made.push(ArtifactRef { digest, size, kind });
    }

    /// Notes that a worker of the remote cache did the work; returns the outputs.
    pub fn made_elsewhere<T>(&mut self, made: T) -> T {
        self.by_worker = true;
        made
    }

    /// Whether the stage has made or taken up this blob.
    pub fn has(&self, blob: &BlobRef) -> bool {
        self.made.iter().any(|artifact| artifact.blob() == *blob)
    }

    /// Stores one artifact.
    pub fn put(&mut self, kind: ArtifactKind, bytes: &[u8]) {
        self.put_named(kind, &[(BlobRef::of(bytes), bytes)]);
    }

    /// Stores several artifacts of a kind, whose names are known, on all processors: a model's weights are written side by
    /// side.
    pub fn put_named(&mut self, kind: ArtifactKind, artifacts: &[(BlobRef, &[u8])]) {
        artifacts.par_iter().for_each(|(blob, bytes)| {
            self.world.store().put_named(blob, bytes).unwrap_or_else(|error| interrupt(error));
        });
        artifacts.iter().for_each(|(blob, _)| self.adopt(kind, *blob));
    }
}
