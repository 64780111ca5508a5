//! What the engine tells whoever watches a deploy.

use std::sync::Arc;

use etbuild_store::{ActionKey, Holder, MissReason};

use crate::stage::{Stage, Staged};

/// Something that happened, on whichever thread.
#[derive(Clone, Debug)]
pub enum Event {
    /// The store did not have a stage's artifacts.
    Missed {
        /// The stage.
        stage: Stage,
        /// Why not.
        reason: MissReason,
    },
    /// Another process, or another thread of this one, runs the same stage; this one waits for it.
    Waiting {
        /// The stage.
        stage: Stage,
        /// Who runs it.
        holder: Holder,
    },
    /// A stage runs.
    Started {
        /// The stage.
        stage: Stage,
        /// Which run of it.
        action: ActionKey,
    },
    /// A stage ran, with whatever result.
    Ended {
        /// The stage.
        stage: Stage,
        /// Which run of it.
        action: ActionKey,
    },
    /// A stage's artifacts are there.
    Finished {
        /// What came of it.
        staged: Arc<Staged>,
    },
    /// A tensor of weights became integers; one that the cache has so is not told.
    Quantized {
        /// What the model calls it.
        tensor: String,
    },
    /// An engine packed weights; what the cache has so is not told.
    Packed {
        /// What they are made of and how.
        weights: String,
    },
    /// Something was installed or repaired that a person should know of.
    Said(String),
    /// The remote cache did something that a person should know of.
    Remote(etbuild_remote::Event),
    /// The store found and dealt with something.
    Store(etbuild_store::Event),
}
