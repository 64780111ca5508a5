//! What semihosting gives: the command line, files and the time.

use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m_semihosting::{nr, syscall, syscall1};

const SEEDS: usize = 1 << 20;

/// The seeds, in memory that only this module writes, once.
static mut SEED_BYTES: [u8; SEEDS] = [0; SEEDS];
static mut LINE: [u8; 256] = [0; 256];

static ROUND: AtomicU32 = AtomicU32::new(0);

/// The name of the file with the seeds, and the seconds of the run.
pub fn arguments() -> (&'static [u8], u32) {
    // SAFETY: the line is read once, by the only thread.
    let line = unsafe { &mut *(&raw mut LINE) };
    let mut block = [line.as_mut_ptr() as usize, line.len()];
    // SAFETY: the host writes at most so many bytes at the address, and the length into the block.
    let status = unsafe { syscall1!(GET_CMDLINE, &raw mut block) };
    assert_eq!(status, 0, "there is no command line");
    let mut words = line[..block[1]].split(|byte| *byte == b' ' || *byte == 0).filter(|word| !word.is_empty());
    let (file, seconds) = (words.next().expect("a file"), words.next().expect("a number of seconds"));
    let digit = |number: u32, digit: &u8| number * 10 + u32::from(digit - b'0');
    (file, seconds.iter().fold(0, digit))
}

/// The bytes of a file.
pub fn read(name: &[u8]) -> &'static [u8] {
    // SAFETY: the bytes are written once, by the only thread.
    let bytes = unsafe { &mut *(&raw mut SEED_BYTES) };
    bytes[..name.len()].copy_from_slice(name);
    // SAFETY: the host reads the name, which ends with a zero, and opens the file for reading.
    let file = unsafe { syscall!(OPEN, bytes.as_ptr(), nr::open::R_BINARY, name.len()) };
    assert_ne!(file.cast_signed(), -1, "the file with the seeds cannot be opened");
    // SAFETY: the host writes at most so many bytes at the address.
    let left = unsafe { syscall!(READ, file, bytes.as_mut_ptr(), SEEDS) };
    &bytes[..SEEDS - left]
}

/// The seconds of the host's clock.
pub fn seconds() -> u32 {
    // SAFETY: the host reads a clock.
    unsafe { syscall1!(TIME, 0) as u32 }
}

/// Remembers the round, for the message of a failure.
pub fn note(round: u32) {
    ROUND.store(round, Ordering::Relaxed);
}

pub fn round() -> u32 {
    ROUND.load(Ordering::Relaxed)
}
