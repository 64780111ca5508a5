//! Digests of files outside the store.

use std::io;
use std::path::Path;

use etbuild_store::{Digest, Hasher};
use etbuild_system::FileStamp;

use super::model_file;
use crate::session::{Mode, World};

/// Files up to this size are hashed every time: that takes less than a millisecond.
const SMALL: u64 = 1 << 20;

/// The digest of a file. The digest of a large file is remembered beside the stamp (size, times to the nanosecond, inode), so
/// that gigabytes of unchanged weights are not read again.
pub fn of(world: &World, path: &Path) -> io::Result<Digest> {
    let stamp = world.system().stamp(path)?;
    if stamp.size <= SMALL {
        return hash(world, path);
    }
    remembered(world, path, stamp, || hash(world, path))
}

/// The digest of a model. A model without a known digest is taken into the store on the way: the import, which comes next,
/// reads the model there, and the file is read once.
pub fn of_model(world: &World, path: &Path) -> io::Result<Digest> {
    let stamp = world.system().stamp(path)?;
    if stamp.size <= SMALL || world.mode() == Mode::Plan {
        return of(world, path);
    }
    remembered(world, path, stamp, || {
        // The import meets the same failure of the store, and reports the failure.
        let Ok(archive) = model_file::keep(world, path) else { return hash(world, path) };
        world.hold(&archive);
        Ok(archive.reference().digest)
    })
}

/// The digest that is known for the stamp, or else the digest that `take` finds.
fn remembered(
    world: &World,
    path: &Path,
    stamp: FileStamp,
    take: impl FnOnce() -> io::Result<Digest>,
) -> io::Result<Digest> {
    let subject = subject(path, stamp);
    if let Some(known) = world.store().memo_get(&subject).and_then(|bytes| bytes.try_into().ok()) {
        return Ok(Digest(known));
    }
    let digest = take()?;
    // Taking a file into the store may give the file another name, which the stamp shows. A file that was written to is not remembered.
    let taken = world.system().stamp(path)?;
    if taken.is_of_the_same_bytes(&stamp) {
        let _ = world.store().memo_put(&self::subject(path, taken), &digest.0);
    }
    Ok(digest)
}

fn hash(world: &World, path: &Path) -> io::Result<Digest> {
    let mut hasher = Hasher::default();
    world.system().read_in_pieces(path, &mut |piece| hasher.update(piece))?;
    Ok(hasher.finish())
}

fn subject(path: &Path, stamp: FileStamp) -> Digest {
    let FileStamp { size, modified_ns, changed_ns, inode } = stamp;
    Digest::of(format!("file\0{}\0{size}\0{modified_ns}\0{changed_ns}\0{inode}", path.display()).as_bytes())
}
