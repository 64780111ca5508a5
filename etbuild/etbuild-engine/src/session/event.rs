//! Events of a deploy for an observer.

use etbuild_store::{ActionKey, Holder, MissReason};

use crate::pipeline::{Source, Stage};

/// An event on any thread.
#[derive(Clone, Debug)]
pub enum Event {
    /// The store did not have a stage's artifacts.
    Missed {
        /// The stage.
        stage: Stage,
        /// Why not.
        reason: MissReason,
    },
    /// Another process, or another thread of this process, runs the same stage, and this thread waits.
    Waiting {
        /// The stage.
        stage: Stage,
        /// The process that runs the stage.
        holder: Holder,
    },
    /// A stage runs.
    Started {
        /// The stage.
        stage: Stage,
        /// The run of the stage.
        action: ActionKey,
    },
    /// A stage ran, successfully or not.
    Ended {
        /// The stage.
        stage: Stage,
        /// The run of the stage.
        action: ActionKey,
    },
    /// A crate of a binary was compiled, or takes long.
    Compiled {
        /// The crate; `None` where no crate was finished for a while.
        package: Option<String>,
        /// How many crates are compiled.
        done: usize,
        /// How many crates the binary is made from.
        total: usize,
    },
    /// A stage's artifacts are there.
    Finished {
        /// The stage.
        stage: Stage,
        /// Where the artifacts came from.
        source: Source,
        /// The size of the artifacts.
        bytes: u64,
    },
    /// A tensor of weights was quantized; a cached tensor causes no event.
    Quantized {
        /// The tensor's name in the model.
        tensor: String,
    },
    /// A backend packed weights; cached packed weights cause no event.
    Packed {
        /// The identity of the packed weights.
        weights: String,
    },
    /// An installation or a repair that a user should know of.
    Said(String),
    /// An event of the remote cache.
    Remote(etbuild_remote::Event),
    /// An event of the store.
    Store(etbuild_store::Event),
}
