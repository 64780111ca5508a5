//! The deploy before: the content of the output folder until a deploy overwrites the folder, and the notes of the last report.

use std::path::Path;

use etbuild_system::System;
use serde::{Deserialize, Serialize};

use super::parts::Sizes;

/// The file beside the page in which a report notes the compared deploys.
pub const NOTE: &str = "report.json";

/// The base of the next report's comparison.
#[derive(Default, Serialize, Deserialize)]
struct Note {
    sizes: Option<Sizes>,
    previous: Option<Sizes>,
}

/// Earlier deploys, the latest first.
#[derive(Default)]
pub struct Before(Vec<Sizes>);

impl Before {
    /// The latest deploy other than the present deploy.
    pub fn than(&self, now: &Sizes) -> Option<Sizes> {
        self.0.iter().find(|sizes| sizes.digest != now.digest).cloned()
    }
}

/// Earlier deploys into `folder`. To be read before a deploy writes there.
pub fn previous(system: &dyn System, folder: &Path, name: &str) -> Before {
    let note = system.read(&folder.join(NOTE)).ok();
    // A note of another version is ignored.
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
