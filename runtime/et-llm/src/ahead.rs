//! Tokens that the model read ahead of the text: guesses that may prove wrong.

/// Guesses, and the number of correct guesses so far.
#[derive(Debug, Default)]
pub struct Ahead {
    guesses: Vec<u32>,
    /// How many have come true.
    right: usize,
}

impl Ahead {
    /// Replaces the guesses.
    pub fn set(&mut self, guesses: &[u32]) {
        self.clear();
        self.guesses.extend_from_slice(guesses);
    }

    /// Drops the guesses.
    pub fn clear(&mut self) {
        self.guesses.clear();
        self.right = 0;
    }

    /// The token that the next guess says.
    pub fn next(&self) -> Option<u32> {
        self.guesses.get(self.right).copied()
    }

    /// Where the token is the next guess, the guess is correct: the guess's row of the logits, of which row 0 belongs to the token ahead
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
