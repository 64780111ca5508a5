//! A program as firmware: at start it runs its verification cases, reports, and ends.
#![no_std]
#![no_main]

mod check;
mod console;
mod facts;
mod memory;
mod memory_functions;
mod report;
mod start;

use console::Console;

/// What the reset handler calls, memory being initialised.
#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    let console = Console::open();
    console.write(facts::BANNER.as_bytes());
    let status = match check::run(&console) {
        Ok(summary) => {
            report::summary(&console, &summary);
            0
        }
        Err(failure) => {
            report::failure(&console, failure);
            failure.error as u32
        }
    };
    console.close(status)
}
