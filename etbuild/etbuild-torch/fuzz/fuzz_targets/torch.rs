//! Arbitrary bytes as a file of `torch.save`, and as the pickle of one with two storages, are tensors or an error. Corpus: `tests/data`.

#![no_main]

use std::io::{Cursor, Write};

use libfuzzer_sys::fuzz_target;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// A file with this pickle.
fn file(pickle: &[u8]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in [("a/data.pkl", pickle), ("a/data/0", &[1; 48]), ("a/data/1", &[2; 8])] {
        archive.start_file(name, stored).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fuzz_target!(|bytes: &[u8]| {
    drop(etbuild_torch::read(bytes));
    drop(etbuild_torch::read(&file(bytes)));
});
