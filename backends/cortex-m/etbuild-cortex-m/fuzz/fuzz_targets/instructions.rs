//! Edits of the instructions in blobs of networks, for each row of kernels: outputs or an error, within the operands. No corpus.
//!
//! The first byte of an input chooses the program file. Each five bytes behind it are the place of a word of the blob and a number for it.

#![no_main]

#[path = "../../tests/net/mod.rs"]
mod net;

use std::sync::OnceLock;

use etbuild_conformance::{compile, load, run};
use etbuild_ir::LoweredProgram;
use libfuzzer_sys::fuzz_target;
use net::{Form, ROWS, board, candidate, odd_sizes, random_inputs, recurrent, residual, separable};

/// A program file with a blob.
struct Program {
    file: Vec<u8>,
    inputs: Vec<Vec<u8>>,
    /// Where the blobs' headers begin.
    blobs: Vec<usize>,
    row: &'static str,
}

/// The first word of a blob.
const MAGIC: &[u8] = b"ETCM";

/// The networks, each in a form of its own.
const NETWORKS: [fn() -> LoweredProgram; 10] = [
    || odd_sizes(Form::Int8),
    || odd_sizes(Form::Int4),
    || odd_sizes(Form::Int16),
    || separable(Form::Int8),
    || separable(Form::Int4),
    || separable(Form::Int16),
    || residual(Form::Int8),
    || residual(Form::Int4),
    || residual(Form::Int16),
    recurrent,
];

/// The rows of kernels, with the portable row.
const ALL_ROWS: [&str; ROWS.len() + 1] = ["none", ROWS[0], ROWS[1], ROWS[2]];

/// A network for a row, compiled when an input first asks for it.
fn programs(which: u8) -> &'static Program {
    static PROGRAMS: [[OnceLock<Program>; NETWORKS.len()]; ALL_ROWS.len()] =
        [const { [const { OnceLock::new() }; NETWORKS.len()] }; ALL_ROWS.len()];
    let (row, network) = (usize::from(which) / NETWORKS.len() % ALL_ROWS.len(), usize::from(which) % NETWORKS.len());
    PROGRAMS[row][network].get_or_init(|| program(NETWORKS[network](), ALL_ROWS[row]))
}

fn program(network: LoweredProgram, row: &'static str) -> Program {
    let (inputs, target) = (random_inputs(&network, 1), board(row));
    let file = compile(network, &candidate(&target)).unwrap().file;
    let blobs = file.windows(MAGIC.len()).enumerate().filter(|(_, bytes)| *bytes == MAGIC).map(|(start, _)| start);
    Program { inputs, blobs: blobs.collect(), row, file }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((which, edits)) = bytes.split_first() else { return };
    let Program { file, inputs, blobs, row } = programs(*which);
    let mut file = file.clone();
    for edit in edits.chunks_exact(5) {
        let [place, number @ ..] = edit else { return };
        let Some(blob) = blobs.first() else { return };
        // The header has 7 words, and the instructions are behind it.
        let start = blob + 4 * (4 + usize::from(*place));
        if let Some(word) = file.get_mut(start..start + 4) {
            word.copy_from_slice(number);
        }
    }
    let target = board(row);
    let candidate = candidate(&target);
    if let Ok(mut method) = load(&file, &candidate) {
        let _ = run(&mut method, inputs);
    }
});
