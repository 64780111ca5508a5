//! The operands of a delegate's instruction, so that no operand that is written overlaps another.

use core::ops::Range;

use et_core::{Access, Error, Result, Tensor};

/// The address ranges of at most `N` operands.
#[derive(Clone, Debug)]
pub struct Claims<const N: usize> {
    claimed: [(Range<usize>, bool); N],
    count: usize,
}

impl<const N: usize> Claims<N> {
    /// No operands yet.
    pub const fn new() -> Self {
        Self { claimed: [const { (0..0, false) }; N], count: 0 }
    }

    /// Adds an operand that the instruction reads or writes.
    ///
    /// # Errors
    /// [`Error::InvalidProgram`] for an operand too many, and where a written operand overlaps another.
    pub fn add(&mut self, range: Range<usize>, writes: bool) -> Result<()> {
        let meets = |(other, written): &(Range<usize>, bool)| {
            (writes || *written) && other.start < range.end && range.start < other.end
        };
        let is_apart = !self.claimed.iter().take(self.count).any(meets);
        *self.claimed.get_mut(self.count).filter(|_| is_apart).ok_or(Error::InvalidProgram)? = (range, writes);
        self.count += 1;
        Ok(())
    }
}

impl<const N: usize> Claims<N> {
    /// Adds `size` bytes of a tensor from `offset` on; returns their address.
    ///
    /// # Errors
    /// As of [`Claims::add`]; [`Error::InvalidProgram`] outside the tensor, and for writes to constant memory.
    pub fn add_part(&mut self, tensor: &Tensor<'_>, offset: usize, size: usize, writes: bool) -> Result<*mut u8> {
        let fits = offset.checked_add(size).is_some_and(|end| end <= tensor.nbytes());
        if !fits || tensor.data().is_null() || (writes && tensor.access() == Access::Constant) {
            return Err(Error::InvalidProgram);
        }
        let start = tensor.data().wrapping_add(offset);
        self.add(start.addr()..start.addr() + size, writes)?;
        Ok(start)
    }
}

impl<const N: usize> Default for Claims<N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_operands_overlap_no_other() {
        let mut claims = Claims::<4>::new();
        assert_eq!([claims.add(0..8, false), claims.add(4..12, false), claims.add(12..16, true)], [Ok(()); 3]);
        assert!(claims.add(15..20, false).is_err() && claims.add(7..9, true).is_err());
        assert!(claims.add(16..20, true).is_ok() && claims.add(30..31, false).is_err(), "the fifth operand");
    }
}
