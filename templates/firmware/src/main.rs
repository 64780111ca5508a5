//! Firmware: runs the verification cases at start, reports the results, and exits.
#![no_std]
#![no_main]

mod board;
mod cases;
mod check;
mod counter;
mod facts;
mod memory;
mod model;
mod plan;
mod report;
mod stack;
mod start;

use board::Board;
use et_platform::{Console, Platform};

/// The entry point, called by the reset handler with initialised memory.
#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    let mut board = Board::default();
    board.write(cases::BANNER);
    let status = match check::run(&mut board) {
        Ok(summary) => {
            report::summary(&mut board, &summary);
            0
        }
        Err(failure) => {
            report::failure(&mut board, failure);
            failure.error as u32
        }
    };
    board.exit(status)
}
