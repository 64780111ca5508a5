//! Draft tokens that the model has verified ahead of the text.

/// Draft tokens, and the number of accepted tokens so far.
#[derive(Debug, Default)]
pub struct Ahead {
    guesses: Vec<u32>,
    /// The number of accepted tokens.
    right: usize,
}

impl Ahead {
    /// Replaces the draft tokens.
    pub fn set(&mut self, guesses: &[u32]) {
        self.clear();
        self.guesses.extend_from_slice(guesses);
    }

    /// Drops the draft tokens.
    pub fn clear(&mut self) {
        self.guesses.clear();
        self.right = 0;
    }

    /// The next draft token.
    pub fn next(&self) -> Option<u32> {
        self.guesses.get(self.right).copied()
    }

    /// Accepts the next draft token if it equals `token`, and returns its row of the logits; row 0 belongs to the token
    /// before all draft tokens.
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
