//! Fuzzes the reader of program files on a Cortex-M3, whose addresses have 32 bits.
//!
//! The first file of semihosting's command line has the seeds, each behind its length, as found with coverage on a host. Every
//! round edits one and executes it; the second word of the command line is the number of seconds. A panic or a fault ends the run with
//! the round, whose number makes the file again.
#![no_std]
#![no_main]

mod edits;
#[path = "../../execution.rs"]
mod execution;
mod heap;
mod host;

use cortex_m_rt::{ExceptionFrame, entry, exception};
use cortex_m_semihosting::{debug, hprintln};

use crate::edits::Edits;
use crate::heap::HEAP;

/// More memory than any file of interest asks for.
const LIMIT: usize = 1 << 16;

/// The longest file of a round.
const LONGEST: usize = 8192;

#[entry]
fn main() -> ! {
    let (seeds, seconds) = host::arguments();
    let seeds = host::read(seeds);
    let mut file = [0; LONGEST];
    let start = host::seconds();
    let (mut rounds, mut executed) = (0_u32, 0_u32);
    while rounds % 256 != 0 || host::seconds().wrapping_sub(start) < seconds {
        host::note(rounds);
        let size = Edits::new(rounds).edited(seeds, &mut file);
        executed += u32::from(HEAP.lend(|| execution::execute(&file[..size], LIMIT).is_ok_and(|methods| methods > 0)));
        rounds += 1;
    }
    hprintln!("{} files, {} executed to the end", rounds, executed);
    debug::exit(debug::EXIT_SUCCESS);
    unreachable!("the emulator ends");
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    hprintln!("round {}: {}", host::round(), info);
    debug::exit(debug::EXIT_FAILURE);
    loop {}
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    hprintln!("round {}: fault at {:#x}", host::round(), frame.pc());
    debug::exit(debug::EXIT_FAILURE);
    loop {}
}
