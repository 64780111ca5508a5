//! The data files of a program.

use etbuild_store::BlobRef;

use crate::action::{ArtifactKind, Staged};

/// The data files of an emitted program with what their names end in, that of the model first.
pub fn data_files(emitted: &Staged) -> Vec<(&'static str, BlobRef)> {
    let kinds = [(ArtifactKind::DataFile, "ptd"), (ArtifactKind::AdapterFile, "adapter.ptd")];
    let found = |(kind, ending)| Some((ending, emitted.artifacts.get(kind)?.blob()));
    kinds.into_iter().filter_map(found).collect()
}
