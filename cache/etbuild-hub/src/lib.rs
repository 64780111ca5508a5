//! Checkpoints of the Hugging Face Hub: `hf:OWNER/NAME`, named in a recipe, become folders of this machine.
//!
//! The folders belong to the hub's own tools (`huggingface_hub`), so that tools share downloads:
//! `models--OWNER--NAME` has `blobs` by digest, `snapshots` with a folder of links per commit, and `refs` with the commits of
//! branches. A checkpoint that is there is used without a look at the network; [`locate`] downloads the rest.
//!
//! ```
//! use etbuild_hub::Reference;
//!
//! let reference = Reference::parse("hf:Qwen/Qwen3-0.6B@main").unwrap().unwrap();
//! assert_eq!(reference.repository, "Qwen/Qwen3-0.6B");
//! assert_eq!(reference.revision.as_deref(), Some("main"));
//! assert!(Reference::parse("models/Qwen3-0.6B").is_none());
//! ```

mod cache;
#[cfg(feature = "download")]
mod client;
#[cfg(feature = "download")]
mod download;
mod error;
#[cfg(feature = "download")]
mod listing;
mod reference;

use std::path::PathBuf;

use etbuild_system::System;

pub use cache::{Cached, cached};
pub use error::HubError;
pub use reference::{Malformed, Reference};

use crate::cache::Cache;

/// The permissions of a search for a checkpoint.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// No network.
    pub offline: bool,
    /// Branches and tags are looked up again, although the cache has their commits.
    pub newest: bool,
    /// Takes a sentence for the user about a download.
    pub say: &'a dyn Fn(String),
}

/// The folder of a checkpoint, or the file where the reference names a file; downloaded if missing in the cache.
///
/// A branch or a tag that the cache knows is looked up again on request only, so that a build does not change by itself. The environment's
/// variables are named as in the hub's own tools: `HF_HUB_CACHE`, `HF_HOME`, `HF_ENDPOINT`, `HF_TOKEN`, `HF_TOKEN_PATH`,
/// `HF_HUB_OFFLINE`.
///
/// # Errors
/// The hub has no such checkpoint, refuses it, or cannot be reached; the cache cannot be written.
pub fn locate(system: &dyn System, reference: &Reference, access: Access<'_>) -> Result<PathBuf, HubError> {
    let cache = Cache::of(system, reference)?;
    let is_known = !access.newest || reference.is_fixed();
    if let Some(found) = cache.complete(system, reference).filter(|_| is_known) {
        return Ok(found);
    }
    let variable = system.variable("HF_HUB_OFFLINE").unwrap_or_default();
    if access.offline || matches!(variable.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on") {
        return Err(HubError::Offline(reference.clone()));
    }
    #[cfg(feature = "download")]
    return download::download(system, &cache, reference, access.say);
    #[cfg(not(feature = "download"))]
    Err(HubError::NotBuiltIn(reference.clone()))
}
