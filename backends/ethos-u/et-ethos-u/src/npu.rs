//! The needs of the driver on a board.
#![allow(unsafe_code, reason = "registers are memory at an address that the target's file states")]

/// The NPU of a board. The methods other than those for registers have defaults for a processor without a data cache that waits in a loop.
pub trait Npu {
    /// The number in the register at an offset in bytes.
    fn read(&self, offset: usize) -> u32;

    /// Sets the register at an offset in bytes.
    fn write(&self, offset: usize, value: u32);

    /// Writes this memory's lines of the data cache back, before the NPU reads the memory.
    fn clean(&self, _memory: &[u8]) {}

    /// Drops this memory's lines of the data cache, after the NPU has written the memory.
    fn invalidate(&self, _memory: &[u8]) {}

    /// Waits until the NPU may have raised its interrupt; `false` gives the run up. The driver repeats the call until the interrupt, and
    /// counts the calls of a run in `turn`. The default gives up after 67 million turns.
    fn wait(&self, turn: u32) -> bool {
        core::hint::spin_loop();
        turn < 1 << 26
    }

    /// The levels of the program, which the NPU's accesses have too: bit 0 for a privileged program, bit 1 for a program that is not
    /// secure. The default is privileged and secure.
    fn levels(&self) -> u32 {
        0b01
    }
}

/// Registers in the address space.
#[derive(Clone, Copy, Debug)]
pub struct Mapped {
    address: usize,
}

impl Mapped {
    /// The registers at an address.
    ///
    /// # Safety
    /// The registers of an Ethos-U NPU are at the address, and nothing else in the program uses them.
    pub const unsafe fn new(address: usize) -> Self {
        Self { address }
    }

    fn register(self, offset: usize) -> *mut u32 {
        core::ptr::with_exposed_provenance_mut(self.address.wrapping_add(offset))
    }
}

impl Npu for Mapped {
    fn read(&self, offset: usize) -> u32 {
        // SAFETY: the maker of `self` promised that registers of 32 bits are there.
        unsafe { self.register(offset).read_volatile() }
    }

    fn write(&self, offset: usize, value: u32) {
        // SAFETY: as above.
        unsafe { self.register(offset).write_volatile(value) }
    }
}
