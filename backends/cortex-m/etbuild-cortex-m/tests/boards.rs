//! Firmware with the kernels of each row, on the processors that QEMU emulates: the outputs are those of this machine, and the
//! instructions of an inference are counted.

mod board;
mod net;

use board::{BOARDS, Board, Firmware};
use etbuild_backend::Backend;
use etbuild_cortex_m::BACKEND;
use etbuild_ir::LoweredProgram;
use net::Form;

static BACKENDS: &[&dyn Backend] = &[&BACKEND];

#[test]
fn every_row_computes_on_a_board_what_it_computes_here() {
    compare(&networks(Form::Int8), |board| board.instructions);
}

/// int16 activations: the processors with the DSP extension need hardly more instructions than with int8.
#[test]
fn int16_activations_compute_on_a_board_what_they_compute_here() {
    compare(&networks(Form::Int16), |board| board.int16);
}

/// int4 weights: half of the flash, and more instructions.
#[test]
fn int4_weights_compute_on_a_board_what_they_compute_here() {
    compare(&networks(Form::Int4), |board| board.int4);
}

/// LSTM and GRU.
#[test]
fn recurrent_layers_compute_on_a_board_what_they_compute_here() {
    compare(&[net::recurrent()], |board| board.recurrent);
}

/// Odd sizes, and the keyword spotting network.
fn networks(form: Form) -> [LoweredProgram; 2] {
    [net::odd_sizes(form), net::keyword_spotting(form)]
}

/// Compares the outputs of networks on every board, and the instructions of the last network with their limit.
fn compare(networks: &[LoweredProgram], most: impl Fn(&Board) -> u64) {
    let mut wrong = Vec::new();
    for board in BOARDS {
        let mut last = None;
        for (index, network) in networks.iter().enumerate() {
            let firmware = Firmware::new(network.clone(), board, BACKENDS);
            let Some(ran) = firmware.run() else { return };
            assert_eq!(ran.outputs, firmware.expected(), "network {index}: {} {}", board.machine, board.cpu);
            last = Some(ran);
        }
        if let Some(ran) = last.filter(|ran| ran.instructions > most(board)) {
            wrong.push(format!("{}: {} instructions; {:?}", board.cpu, ran.instructions, ran.size));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The portable kernels compute the same program, with more instructions and memory.
#[test]
fn the_backend_saves_instructions_and_memory() {
    let board = &BOARDS[0];
    let [portable, backend] =
        [&[], BACKENDS].map(|backends| Firmware::new(net::keyword_spotting(Form::Int8), board, backends).run());
    let (Some(portable), Some(backend)) = (portable, backend) else { return };
    assert!(backend.instructions * 20 < portable.instructions, "{} {}", backend.instructions, portable.instructions);
    assert!(backend.size.arena * 3 < portable.size.arena, "{:?} {:?}", backend.size, portable.size);
    assert!(backend.size.flash() < portable.size.flash(), "{:?} {:?}", backend.size, portable.size);
}
