//! Tokens that were read before anybody knows whether the text has them.

/// Guesses, of which the first ones have come true.
#[derive(Debug, Default)]
pub struct Ahead {
    guesses: Vec<u32>,
    /// How many have come true.
    right: usize,
}

impl Ahead {
    /// There are these guesses now.
    pub fn set(&mut self, guesses: &[u32]) {
        self.clear();
        self.guesses.extend_from_slice(guesses);
    }

    /// There are none any more.
    pub fn clear(&mut self) {
        self.guesses.clear();
        self.right = 0;
    }

    /// The token that the next guess says.
    pub fn next(&self) -> Option<u32> {
        self.guesses.get(self.right).copied()
    }

    /// Where the token is the next guess, that one has come true: its row of the logits, of which row 0 is that of the token ahead
    /// of all guesses.
    pub fn take(&mut self, token: u32) -> Option<usize> {
        let is_next = self.next() == Some(token);
        self.right += usize::from(is_next);
        is_next.then_some(self.right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_come_true_one_after_the_other() {
        let mut ahead = Ahead::default();
        assert_eq!(ahead.take(5), None);
        ahead.set(&[5, 5, 7]);
        assert_eq!([ahead.take(5), ahead.take(5), ahead.take(5)], [Some(1), Some(2), None]);
        assert_eq!((ahead.next(), ahead.take(7)), (Some(7), Some(3)));
        assert_eq!((ahead.next(), ahead.take(7)), (None, None));
        ahead.set(&[9]);
        assert_eq!((ahead.next(), ahead.take(9)), (Some(9), Some(1)));
    }
}
