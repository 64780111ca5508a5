//! Heapsort in place, of elements that are read and stored by functions.

/// Elements at indices that can be read and stored.
pub struct Heap<'a, C> {
    /// The element at an index.
    pub load: &'a dyn Fn(usize) -> C,
    /// Stores an element at an index.
    pub store: &'a dyn Fn(usize, C),
}

impl<C: Copy + PartialOrd> Heap<'_, C> {
    /// Sorts the first `length` elements in ascending order. No element is NaN.
    pub fn sort(&self, length: usize) {
        (0..length / 2).rev().for_each(|root| self.sift(root, length));
        for end in (1..length).rev() {
            let last = (self.load)(end);
            (self.store)(end, (self.load)(0));
            (self.store)(0, last);
            self.sift(0, end);
        }
    }

    /// Sifts the element at `root` down, until no child is greater.
    fn sift(&self, mut root: usize, end: usize) {
        let moved = (self.load)(root);
        while 2 * root + 1 < end {
            let (left, right) = (2 * root + 1, 2 * root + 2);
            let child = if right < end && (self.load)(left) < (self.load)(right) { right } else { left };
            let greatest = (self.load)(child);
            if moved >= greatest {
                break;
            }
            (self.store)(root, greatest);
            root = child;
        }
        (self.store)(root, moved);
    }
}
