//! The files of a model in the store.

use std::path::Path;

use etbuild_checkpoint::GGUF;
use etbuild_store::{Blob, StoreError};

use crate::session::World;

/// From this size on, in bytes, a shard of a checkpoint gets a second name in the store; smaller files are copied.
const LARGE: u64 = 64 << 20;

/// Takes a file into the store. Gigabytes of weights are not copied: nothing writes to a checkpoint once it has been
/// downloaded. Archives are, because whoever exports a model again writes over the file that a build may be reading.
pub fn keep(world: &World, path: &Path) -> Result<Blob, StoreError> {
    let is_shard = path.extension().is_some_and(|extension| extension == "safetensors" || extension == GGUF);
    let is_large = || world.system().stamp(path).is_ok_and(|stamp| stamp.size >= LARGE);
    if is_shard && is_large() { world.store().share_file(path) } else { world.store().put_file(path) }
}
