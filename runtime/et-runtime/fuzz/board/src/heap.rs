//! Memory that a round takes and gives back as a whole.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};

const SIZE: usize = 2 << 20;

#[repr(align(16))]
pub struct Heap {
    memory: UnsafeCell<[u8; SIZE]>,
    used: AtomicUsize,
}

#[global_allocator]
pub static HEAP: Heap = Heap { memory: UnsafeCell::new([0; SIZE]), used: AtomicUsize::new(0) };

// SAFETY: a part of the memory is given to one owner, and the number of bytes in use is atomic.
unsafe impl Sync for Heap {}

// SAFETY: parts lie behind one another, aligned, within the memory.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = self.used.load(Ordering::Relaxed).next_multiple_of(layout.align());
        match start.checked_add(layout.size()).filter(|end| *end <= SIZE) {
            Some(end) => {
                self.used.store(end, Ordering::Relaxed);
                self.memory.get().cast::<u8>().wrapping_add(start)
            }
            None => core::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

impl Heap {
    /// Does `work`, and frees all memory that `work` allocates. The result holds no memory.
    pub fn lend(&self, work: impl FnOnce() -> bool) -> bool {
        let used = self.used.load(Ordering::Relaxed);
        let result = work();
        self.used.store(used, Ordering::Relaxed);
        result
    }
}
