//! Blobs that are made from a digest's content: the store notes the blobs, so that each is made once.

use etbuild_store::{Blob, BlobRef, BlobWriter, Digest};

use crate::pipeline::version;
use crate::session::{Mode, World, interrupt};

/// The blobs of these sizes that were made from `subject`, if the store still has all blobs.
pub fn known<const N: usize>(world: &World, subject: &Digest, sizes: [usize; N]) -> Option<[Blob; N]> {
    let noted = world.store().memo_get(&versioned(subject))?;
    let digests: [[u8; 32]; N] = noted.as_chunks().0.try_into().ok()?;
    let blobs: [BlobRef; N] =
        std::array::from_fn(|index| BlobRef { digest: Digest(digests[index]), size: sizes[index] as u64 });
    let has = |blob: &BlobRef| world.store().contains(blob).unwrap_or_else(|error| interrupt(error));
    blobs.iter().all(has).then(|| blobs.map(|blob| world.open_weights(&blob)))
}

/// The same, but `None` in a rebuild.
pub fn reusable<const N: usize>(world: &World, subject: &Digest, sizes: [usize; N]) -> Option<[Blob; N]> {
    if world.mode() == Mode::Rebuild { None } else { known(world, subject, sizes) }
}

/// Stores the blobs that were made of `subject`.
pub fn keep<const N: usize>(world: &World, subject: &Digest, made: [BlobWriter<'_>; N]) -> [Blob; N] {
    let blobs = made.map(|writer| {
        let blob = writer.finish_open().unwrap_or_else(|error| interrupt(error));
        world.hold(&blob);
        blob
    });
    world.check_unchanged();
    let digests = blobs.each_ref().map(|blob| blob.reference().digest.0);
    // A blob without a note is made again.
    let _ = world.store().memo_put(&versioned(subject), digests.as_flattened());
    blobs
}

/// The subject under the version of the code that makes blobs of subjects: other code makes other blobs of the same weights.
fn versioned(subject: &Digest) -> Digest {
    Digest::of(format!("{} {subject}", version::SHARED).as_bytes())
}

/// Begins a blob.
pub fn writer(world: &World) -> BlobWriter<'_> {
    world.store().writer().unwrap_or_else(|error| interrupt(error))
}
