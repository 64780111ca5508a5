//! The tokens of a call of a language model: what a graph reads of their positions, and the rows that it adds to the KV cache.

use et_core::{Args, Error, Half, Input, Output};
use et_problem::{Outcome, Problem};

use crate::blob::{ALL_ROWS, Binding, Ring, Role, Span, UNSEEN};

/// The largest position.
const LARGEST: i64 = i32::MAX as i64;

impl Binding {
    /// Whether a graph with this input reads all slots of the KV cache that hold positions before the call.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for numbers that are no position or no row.
    pub fn reads_past(self, arguments: &Args<'_, '_>) -> Outcome<bool> {
        Ok(self.role != Role::Mask || Tokens::read(self.span, arguments)?.reads_past(self.ring))
    }

    /// The bytes of an input that is made of the positions of the tokens; `None` for the memory of an argument.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for numbers that are no position or no row, and for tokens beyond the KV cache.
    pub fn made(self, arguments: &Args<'_, '_>) -> Outcome<Option<Vec<u8>>> {
        let tokens = || Tokens::read(self.span, arguments);
        Ok(Some(match self.role {
            Role::Positions => tokens()?.positions(self.ring)?,
            Role::Last => (last_row(self.span, arguments)? as i32).to_le_bytes().to_vec(),
            Role::Mask => tokens()?.mask(self.ring)?,
            Role::Argument | Role::Past | Role::Rows => return Ok(None),
        }))
    }

    /// Writes the rows of the call to the KV cache.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for tokens beyond the KV cache, or a KV cache of other sizes.
    pub fn write_rows(self, rows: &[u8], arguments: &Args<'_, '_>) -> Outcome<()> {
        let cache = arguments.tensor(self.argument as usize)?.bytes_mut()?;
        Tokens::read(self.span, arguments)?.write(self.ring, rows, cache)
    }
}

/// The rows of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// The position of the first row.
    start: usize,
    /// The last row that holds a token.
    last: usize,
    /// The number of rows.
    rows: usize,
}

impl Tokens {
    /// Reads the numbers of a span from the arguments of a call.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for numbers that are no position or no row.
    pub fn read(span: Span, arguments: &Args<'_, '_>) -> Outcome<Self> {
        let last = last_row(span, arguments)?;
        Ok(Self { start: number(arguments, span.start)?, last, rows: span.rows as usize })
    }

    /// The position of each row, as int32, which selects rows of a table for the positions of `ring`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a position behind the end of the table.
    pub fn positions(self, ring: Ring) -> Outcome<Vec<u8>> {
        let (end, count) = (self.start + self.last + 1, ring.slots as usize);
        if end > count {
            return Err(beyond(end, count));
        }
        Ok((0..self.rows).flat_map(|row| (self.position(row) as i32).to_le_bytes()).collect())
    }

    /// What is added to the scores of each row, as fp16: the slots that the graph reads, then the rows of the call.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for tokens beyond the KV cache.
    pub fn mask(self, ring: Ring) -> Outcome<Vec<u8>> {
        self.check(ring)?;
        let slots = ring.slots as usize;
        let window = if ring.window == 0 { usize::MAX } else { ring.window as usize };
        let read = ring.read as usize;
        let sees = |row: usize, key: usize| key <= row && row - key < window;
        let (seen, unseen) = (Half::from_f32(0.0).0.to_le_bytes(), Half::from_f32(UNSEEN).0.to_le_bytes());
        let mut bytes = Vec::with_capacity(self.rows * (read + self.rows) * 2);
        for row in (0..self.rows).map(|row| row.min(self.last)) {
            let before = (0..read).map(|slot| self.held(slot, slots).is_some_and(|key| sees(self.start + row, key)));
            let own = (0..self.rows).map(|key| sees(row, key));
            bytes.extend(before.chain(own).flat_map(|is_seen| if is_seen { seen } else { unseen }));
        }
        Ok(bytes)
    }

    /// Whether a graph reads all slots that hold positions before the call.
    pub const fn reads_past(self, ring: Ring) -> bool {
        ring.read >= ring.slots || self.start <= ring.read as usize
    }

    /// Writes the rows that hold tokens to the slots of their positions.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for tokens beyond the KV cache, or a KV cache of other sizes.
    pub fn write(self, ring: Ring, rows: &[u8], cache: Output<'_, u8>) -> Outcome<()> {
        let (slots, size) = (ring.slots as usize, rows.len() / self.rows.max(1));
        if self.last >= slots || cache.len() != slots * size {
            return Err(Problem::new(Error::InvalidArgument, "the rows of the call do not fit the KV cache"));
        }
        let first = self.start % slots;
        let before_end = (self.last + 1).min(slots - first);
        let (head, tail) = rows[..(self.last + 1) * size].split_at(before_end * size);
        cache.window(first * size, head.len()).copy_from(Input::of(head));
        cache.window(0, tail.len()).copy_from(Input::of(tail));
        Ok(())
    }

    /// The position of a row.
    fn position(self, row: usize) -> usize {
        self.start + row.min(self.last)
    }

    /// The position that a slot holds before the call.
    fn held(self, slot: usize, slots: usize) -> Option<usize> {
        let before = self.start.checked_sub(1)?;
        (slot <= before).then(|| before - (before - slot) % slots)
    }

    /// The KV cache must have room for the tokens and the positions that they see.
    fn check(self, ring: Ring) -> Outcome<()> {
        let (slots, end) = (ring.slots as usize, self.start + self.last + 1);
        let window = if ring.window == 0 { usize::MAX } else { ring.window as usize };
        if end > slots && window.saturating_add(self.last) > slots {
            return Err(beyond(end, slots));
        }
        Ok(())
    }
}

/// The refusal of positions up to `end` in a memory of `count` positions.
fn beyond(end: usize, count: usize) -> Problem {
    let sentence = format!("position {} is beyond the context of {count} positions", end - 1);
    Problem::new(Error::InvalidArgument, sentence)
}

/// The last row of a span that holds a token.
///
/// # Errors
/// [`Error::InvalidArgument`] for a number that is no row.
pub fn last_row(span: Span, arguments: &Args<'_, '_>) -> Outcome<usize> {
    let rows = span.rows as usize;
    let last = if span.last == ALL_ROWS { rows.saturating_sub(1) } else { number(arguments, span.last)? };
    if last < rows { Ok(last) } else { Err(Error::InvalidArgument.into()) }
}

/// The position or row in an argument of one element.
fn number(arguments: &Args<'_, '_>, position: u32) -> Outcome<usize> {
    let tensor = arguments.tensor(position as usize)?;
    let number = if tensor.numel() == 1 { tensor.input::<i64>()?.get(0) } else { -1 };
    if (0..=LARGEST).contains(&number) { Ok(number as usize) } else { Err(Error::InvalidArgument.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A KV cache that is read as a whole.
    const fn ring(slots: u32, window: u32) -> Ring {
        Ring { slots, window, read: slots }
    }

    /// Which keys each row sees.
    fn seen(tokens: Tokens, ring: Ring) -> Vec<String> {
        let mask = tokens.mask(ring).unwrap();
        let width = ring.read as usize + tokens.rows;
        let bits: String = mask.chunks(2).map(|bits| if bits == [0, 0] { '1' } else { '.' }).collect();
        bits.as_bytes().chunks(width).map(|row| String::from_utf8(row.to_vec()).unwrap()).collect()
    }

    #[test]
    fn rows_see_the_past_and_themselves() {
        let ring = ring(5, 0);
        assert_eq!(seen(Tokens { start: 0, last: 1, rows: 2 }, ring), [".....1.", ".....11"]);
        assert_eq!(seen(Tokens { start: 3, last: 1, rows: 2 }, ring), ["111..1.", "111..11"]);
    }

    #[test]
    fn a_row_without_a_token_sees_what_the_last_token_sees() {
        let ring = ring(4, 0);
        assert_eq!(seen(Tokens { start: 1, last: 0, rows: 2 }, ring), ["1...1.", "1...1."]);
    }

    #[test]
    fn a_window_moves_around_the_ring() {
        let ring = ring(4, 3);
        // Slots hold the positions 4, 5, 2, 3.
        assert_eq!(seen(Tokens { start: 6, last: 1, rows: 2 }, ring), ["11..1.", ".1..11"]);
    }

    #[test]
    fn the_first_slots_hold_the_past_of_positions_up_to_their_number() {
        let at = |start| Tokens { start, last: 0, rows: 1 };
        let short = Ring { read: 2, ..ring(5, 0) };
        assert_eq!(seen(at(2), short), ["111"]);
        assert_eq!([0, 2, 3].map(|start| at(start).reads_past(short)), [true, true, false]);
        assert!(at(9).reads_past(ring(5, 3)), "a ring buffer that is read as a whole");
    }

    #[test]
    fn tokens_beyond_the_cache_are_refused() {
        assert!(Tokens { start: 4, last: 1, rows: 2 }.mask(ring(5, 0)).is_err());
        assert!(Tokens { start: 4, last: 1, rows: 2 }.mask(ring(4, 4)).is_err());
    }

    #[test]
    fn rows_go_to_the_slots_of_their_positions() {
        let mut cache = [9_u8; 6];
        let tokens = Tokens { start: 5, last: 1, rows: 3 };
        tokens.write(ring(3, 0), &[1, 2, 3, 4, 5, 6], Output::of(&mut cache)).unwrap();
        assert_eq!(cache, [3, 4, 9, 9, 1, 2]);
        let positions = |slots| tokens.positions(ring(slots, 0));
        assert_eq!(positions(7).unwrap(), [5_i32, 6, 6].map(i32::to_le_bytes).concat());
        assert!(positions(6).is_err());
    }
}
