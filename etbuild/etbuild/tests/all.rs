//! The end-to-end tests: a single binary, because each further binary would link the whole of etbuild again. The name of a file
//! selects the tests of the file: `cargo test -p etbuild --features full --test all deploy::`.

#[path = "../../../cache/etbuild-remote/tests/support/casd.rs"]
mod casd;

mod adapters;
mod android;
mod apple;
mod attest;
mod bench;
mod boards;
mod browser;
mod bundles;
mod chat;
mod check;
mod checkpoints;
mod commands;
mod conformance;
mod constrain;
mod damage;
mod deploy;
mod devices;
mod diffusion;
mod dynamic;
mod encoders;
mod ethos;
mod explanations;
mod export;
mod families;
mod faults;
mod faults_options;
mod firmware;
mod flow;
mod front_ends;
mod gguf;
mod gguf_encoders;
mod golden_sizes;
mod gpu;
mod hearing;
mod hub;
mod incremental;
mod inputs;
mod inspect;
mod interrupt;
mod java;
mod journeys;
mod keep;
mod kills;
mod language;
mod library;
mod library_media;
mod lock;
mod matrix;
mod media;
mod methods;
mod models;
mod npu;
mod operators;
mod pickled;
mod prebuilt;
mod processors;
mod quantize;
mod quantized;
mod random_numbers;
mod recipes;
mod recording;
mod remote;
mod report;
mod reproducible;
mod rust;
mod seq2seq;
mod serial;
mod serve;
mod serve_pages;
mod serve_prefix;
mod sessions;
mod soak;
mod speculation;
mod states;
mod support;
mod tokens;
mod trace;
mod updates;
mod upstream;
mod vision;
mod waiting;
mod watch;
mod web;
mod web_gpu;
mod web_media;
mod web_threads;
mod windows;
mod workers;

/// A file that is no module here would be compiled by nobody.
#[test]
fn every_file_of_this_folder_is_a_module() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    for name in names.filter(|name| name != "all.rs") {
        if let Some(module) = name.strip_suffix(".rs") {
            assert!(include_str!("all.rs").contains(&format!("\nmod {module};\n")), "`mod {module};` is missing");
        }
    }
}
