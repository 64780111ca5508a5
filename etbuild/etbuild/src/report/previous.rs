//! What was deployed before: what lies in the output folder until a deploy writes it anew, and what the last report noted.

use std::path::Path;

use etbuild_system::System;
use serde::{Deserialize, Serialize};

use super::parts::Sizes;

/// The file beside the page in which a report notes what it compared.
pub const NOTE: &str = "report.json";

/// What the next report compares with.
#[derive(Default, Serialize, Deserialize)]
struct Note {
    sizes: Option<Sizes>,
    previous: Option<Sizes>,
}

/// What is known of earlier deploys, the latest first.
#[derive(Default)]
pub struct Before(Vec<Sizes>);

impl Before {
    /// The latest that is not the present one.
    pub fn than(&self, now: &Sizes) -> Option<Sizes> {
        self.0.iter().find(|sizes| sizes.digest != now.digest).cloned()
    }
}

/// What is known of earlier deploys into `folder`. To be asked before a deploy writes there.
pub fn previous(system: &dyn System, folder: &Path, name: &str) -> Before {
    let note = system.read(&folder.join(NOTE)).ok();
    // A note of another version is none.
    let note: Note = note.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let there = Sizes::of(folder, name, None);
    // The note knows more than the files do.
    let noted = |sizes: &Sizes| note.sizes.as_ref().is_some_and(|noted| noted.digest == sizes.digest);
    let there = there.filter(|sizes| !noted(sizes));
    Before([there, note.sizes, note.previous].into_iter().flatten().collect())
}

/// The note for the next report.
pub fn note(sizes: Option<&Sizes>, previous: Option<&Sizes>) -> Vec<u8> {
    serde_json::to_vec(&Note { sizes: sizes.cloned(), previous: previous.cloned() }).unwrap_or_default()
}
