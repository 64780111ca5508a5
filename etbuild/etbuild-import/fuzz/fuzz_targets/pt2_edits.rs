//! Archives with well-formed JSON and an edited program or weight list. Each either imports as a program that runs,
//! or is an error. Corpus: the archives in `tests/data`.

#![no_main]

#[path = "pt2_edits/archive.rs"]
mod archive;
#[path = "pt2_edits/change.rs"]
mod change;
#[path = "pt2_edits/edit.rs"]
mod edit;

use std::sync::{Arc, LazyLock};

use archive::{Archive, archives};
use edit::Edit;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

static ARCHIVES: LazyLock<Vec<Archive>> = LazyLock::new(archives);

/// An edited archive.
#[derive(Arbitrary, Debug)]
struct Changed {
    archive: u8,
    edits: Vec<Edit>,
}

impl Changed {
    fn bytes(&self) -> Vec<u8> {
        let archive = &ARCHIVES[usize::from(self.archive) % ARCHIVES.len()];
        let mut documents = archive.documents.clone();
        for edit in self.edits.iter().take(16) {
            edit.apply(&mut documents, &ARCHIVES);
        }
        archive.with(&documents)
    }
}

fuzz_target!(|changed: Changed| {
    if let Ok(program) = etbuild_import::import_pt2(Arc::new(changed.bytes())) {
        drop(etbuild_pass::to_core_aten(program).and_then(etbuild_pass::to_edge));
    }
});
