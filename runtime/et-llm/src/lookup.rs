//! Prompt lookup: proposes the tokens after an earlier occurrence of the last tokens.

use std::collections::HashMap;

use crate::{Error, Proposer};

/// The length of the longest suffix.
const LONGEST: usize = 3;
/// The largest number of skipped proposals after rejected proposals.
const PATIENCE: u32 = 16;

/// Prompt lookup: finds the longest suffix of the text, of at most three tokens, that occurred before, and proposes the
/// tokens after the last occurrence. The ends of all runs are indexed, so a proposal takes the same time for any length
/// of the text.
#[derive(Debug, Default)]
pub struct Lookup {
    /// By the length of the run less one.
    runs: [Runs; LONGEST],
    /// The number of indexed tokens of the text.
    known: usize,
    /// The suffix length of the last proposal.
    last: Option<usize>,
}

/// Runs of a number of tokens.
#[derive(Debug, Default)]
struct Runs {
    /// The last end of each run.
    ends: HashMap<[u32; LONGEST], usize>,
    /// The number of proposals to skip before the next proposal, and the number skipped the last time.
    wait: u32,
    waited: u32,
}

impl Proposer for Lookup {
    fn begin(&mut self) {
        self.runs.iter_mut().for_each(|runs| runs.ends.clear());
        (self.known, self.last) = (0, None);
    }

    fn propose(&mut self, text: &[u32], most: usize, guesses: &mut Vec<u32>) -> Result<(), Error> {
        // The run at the end of the text is not yet indexed, or the lookup would find that run.
        for end in self.known..text.len() {
            for (less_one, runs) in self.runs.iter_mut().enumerate() {
                if let Some(key) = key(text, end, less_one + 1) {
                    runs.ends.insert(key, end);
                }
            }
        }
        self.known = text.len();
        self.last = None;
        let found = self.runs.iter_mut().enumerate().rev().find_map(|(less_one, runs)| {
            let end = *runs.ends.get(&key(text, text.len(), less_one + 1)?)?;
            Some((less_one, runs, end))
        });
        let Some((less_one, runs, end)) = found else { return Ok(()) };
        if runs.wait > 0 {
            runs.wait -= 1;
            return Ok(());
        }
        self.last = Some(less_one);
        // At the end of the text, the proposal repeats the continuation.
        guesses.extend(text.iter().skip(end).copied().cycle().take(most));
        Ok(())
    }

    fn judged(&mut self, _guesses: usize, right: usize) {
        let Some(runs) = self.last.and_then(|last| self.runs.get_mut(last)) else { return };
        runs.waited = if right > 0 { 0 } else { (2 * runs.waited).clamp(1, PATIENCE) };
        runs.wait = runs.waited;
    }
}

/// The run of `tokens` tokens that ends at `end`, if the text is long enough.
fn key(text: &[u32], end: usize, tokens: usize) -> Option<[u32; LONGEST]> {
    let run = text.get(end.checked_sub(tokens)?..end)?;
    let mut key = [0; LONGEST];
    key.iter_mut().zip(run).for_each(|(key, token)| *key = *token);
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(lookup: &mut Lookup, text: &[u32], most: usize) -> Vec<u32> {
        let mut guesses = Vec::new();
        lookup.propose(text, most, &mut guesses).unwrap();
        guesses
    }

    #[test]
    fn the_longest_run_decides_and_the_last_time_of_it() {
        let text = [1, 2, 3, 40, 9, 2, 3, 50, 1, 2, 3, 41, 8, 3, 60, 1, 2, 3];
        assert_eq!(guessed(&mut Lookup::default(), &text, 2), [41, 8]);
        assert_eq!(guessed(&mut Lookup::default(), &text[..7], 3), [40, 9, 2]);
        assert_eq!(guessed(&mut Lookup::default(), &text[..14], 1), [41]);
        assert_eq!(guessed(&mut Lookup::default(), &text[..5], 4), [0; 0]);
        assert_eq!(guessed(&mut Lookup::default(), &[], 4), [0; 0]);
    }

    #[test]
    fn a_text_that_repeats_itself_is_guessed_beyond_its_end() {
        assert_eq!(guessed(&mut Lookup::default(), &[7, 1, 2, 1, 2], 5), [1, 2, 1, 2, 1]);
        assert_eq!(guessed(&mut Lookup::default(), &[4, 4], 3), [4, 4, 4]);
    }

    #[test]
    fn a_text_that_grows_is_guessed_as_if_it_were_new() {
        let text: Vec<u32> = (0..400_u32).map(|index| index * index % 23 % 5).collect();
        let mut growing = Lookup::default();
        growing.begin();
        for end in (1..text.len()).step_by(3) {
            let new = guessed(&mut Lookup::default(), &text[..end], 6);
            assert_eq!(guessed(&mut growing, &text[..end], 6), new, "{end}");
        }
        growing.begin();
        assert_eq!(guessed(&mut growing, &[0, 1, 4], 6), [0; 0], "what was there before is forgotten");
    }

    #[test]
    fn guesses_that_are_wrong_become_rare_and_one_that_is_right_makes_up_for_them() {
        let (mut lookup, mut text) = (Lookup::default(), vec![1, 1, 1]);
        let mut tries = |right: usize, rounds: usize| {
            let mut tries = 0;
            for _ in 0..rounds {
                text.extend([1]);
                let guesses = guessed(&mut lookup, &text, 2).len();
                tries += usize::from(guesses > 0);
                if guesses > 0 {
                    lookup.judged(guesses, right);
                }
            }
            tries
        };
        assert_eq!(tries(0, 1 + 2 + 3 + 5 + 9 + 17 + 17), 7);
        assert_eq!(tries(1, 17 + 20), 20 + 1);
    }
}
