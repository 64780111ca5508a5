//! Bundles on arbitrary bytes, past the signature: the bytes are a manifest, and what its pieces name follows. Every file must come out with the size
//! that the manifest says, or with an error that lays the blame on the bundle; a manifest that is taken is what its bytes say.
//!
//! `cargo +nightly fuzz run bundle --fuzz-dir runtime/et-update/fuzz CORPUS`

#![no_main]

use std::io::Cursor;

use et_update::{Bundle, Error, Kind, Machine, Manifest, choose, write_start};
use libfuzzer_sys::fuzz_target;

/// The most bytes of a file that is written: manifests may ask for any size.
const WRITTEN_MOST: u64 = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(manifest) = Manifest::decode(bytes) else { return };
    assert_eq!(manifest.encode().ok().as_deref(), Some(bytes));
    let machine = Machine { platform: "x86_64-linux".into(), chip: Some("SM8750".into()), instruction_sets: Vec::new() };
    assert!(matches!(choose(&manifest, &machine, None), Ok(_) | Err(Error::NoTarget { .. })));
    if manifest.body_size() > WRITTEN_MOST {
        return;
    }
    let mut bundle = Vec::new();
    write_start(Kind::Bundle, bytes, None, &mut bundle).expect("memory takes all bytes");
    bundle.resize(bundle.len() + manifest.body_size() as usize, 0);
    let mut bundle = Bundle::open(Box::new(Cursor::new(bundle))).expect("the size is that of the manifest");
    for file in manifest.entries.iter().flat_map(|entry| &entry.files) {
        if file.version.size > WRITTEN_MOST {
            continue;
        }
        let mut out = Vec::new();
        match bundle.write_file(file, &mut out, &|_| Error::NoEarlierVersion) {
            Ok(()) => assert_eq!(out.len() as u64, file.version.size),
            Err(error) => assert!(matches!(error, Error::Malformed(_))),
        }
    }
});
