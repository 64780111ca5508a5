//! The compressed form of weights.
//!
//! A stream has slices. Each slice has a header, perhaps a palette, and chunks. A chunk has the quotients of up to 12 weights and of up to 12 runs of
//! zeros, in unary digits, and the remainders for the quotients of the chunk before. A weight is an index into the palette, or beyond the palette
//! a number whose lowest bit is the sign.

use super::bit_stream::Bits;

/// The divisor of zero runs that ends a section of the stream; the next section begins at a whole byte.
const END: u32 = 7;
/// The divisor of zero runs in a slice without zero runs.
const NO_RUNS: u32 = 6;
/// The divisor of weights in a slice whose weights have no quotients.
const DIRECT: u32 = 7;
/// The highest divisors, as shifts.
const MOST: [u32; 2] = [5, 3];
/// How many weights may be ahead of the runs.
const AHEAD: usize = 8;
/// The unary digits of a chunk.
const DIGITS: usize = 12;
/// The weights have 9 bits.
const INDICES: u32 = 1 << 9;

/// The weights of a compressed stream.
///
/// `None` for a stream that ends within a slice, and for headers that no encoder writes.
pub fn decode(bytes: &[u8]) -> Option<Vec<i16>> {
    let mut bits = Bits::of(bytes);
    let (mut weights, mut palette) = (Vec::new(), None);
    while let Some(runs) = next_slice(&mut bits) {
        slice(&mut bits, runs, &mut palette, &mut weights)?;
    }
    Some(weights)
}

/// The divisor of the next slice's zero runs; `None` at the end of the stream.
fn next_slice(bits: &mut Bits<'_>) -> Option<u32> {
    loop {
        match bits.take(3)? {
            END => bits.align(),
            runs => return Some(runs),
        }
    }
}

/// What indices stand for.
#[derive(Clone, Debug, Default)]
struct Palette {
    colors: Vec<u32>,
    /// The number of the first index beyond the palette.
    offset: u32,
    /// The bits of a number.
    width: usize,
    has_runs: bool,
}

impl Palette {
    fn read(bits: &mut Bits<'_>, has_runs: bool) -> Option<Self> {
        let (offset, size) = (bits.take(5)?, bits.take(5)? as usize);
        let width = bits.take(3)? as usize + 2;
        let size = if size > 0 { size + 1 } else { 0 };
        let colors = (0..size).map(|_| bits.take(width)).collect::<Option<_>>()?;
        Some(Self { colors, offset, width, has_runs })
    }

    /// The bits of an index without a quotient.
    const fn index_bits(&self) -> usize {
        match self.colors.len() {
            0 => self.width,
            size => size.next_power_of_two().ilog2() as usize,
        }
    }

    fn weight(&self, index: u32) -> i16 {
        let beyond = index.wrapping_sub(self.colors.len() as u32).wrapping_add(self.offset);
        let number = self.colors.get(index as usize).copied().unwrap_or(beyond);
        let magnitude = (number >> 1) as i16;
        if number & 1 != 0 { -magnitude } else { magnitude }
    }
}

/// Decodes a slice.
fn slice(bits: &mut Bits<'_>, runs: u32, palette: &mut Option<Palette>, weights: &mut Vec<i16>) -> Option<()> {
    let has_runs = runs != NO_RUNS;
    let count = bits.take(15)? as usize + 1;
    let divisor = bits.take(3)?;
    let is_truncated = bits.take(1)? != 0;
    let is_new = bits.take(1)? != 0;
    if is_new {
        *palette = Some(Palette::read(bits, has_runs)?);
    }
    let palette = palette.as_ref().filter(|palette| palette.has_runs == has_runs)?;
    let is_direct = divisor == DIRECT;
    let shift = if is_direct { palette.index_bits() } else { divisor as usize };
    if !(is_direct || divisor <= MOST[0]) || has_runs && runs > MOST[1] {
        return None;
    }
    let leading = usize::from(is_new);
    let quotients = if is_direct { Quotients::None } else { Quotients::Weights { is_truncated } };
    let digits = if is_direct && shift > MOST[0] as usize { 8 } else { DIGITS };
    let mut indices = Lane::new(quotients, count, shift, digits);
    let run_digits = if runs < MOST[1] { DIGITS } else { 8 };
    let run_count = if has_runs { count + leading } else { 0 };
    let mut zeros = Lane::new(Quotients::Runs, run_count, if has_runs { runs as usize } else { 0 }, run_digits);
    chunks(bits, &mut indices, &mut zeros, has_runs)?;
    join(palette, &indices, &zeros, leading, weights)
}

/// Decodes the chunks of a slice.
fn chunks(bits: &mut Bits<'_>, indices: &mut Lane, zeros: &mut Lane, has_runs: bool) -> Option<()> {
    while !(indices.is_done() && zeros.is_done()) {
        let (weights, runs) = (indices.found, zeros.found);
        let takes_weights = indices.needs_quotients() && (!has_runs || weights < runs + AHEAD);
        let takes_runs = zeros.needs_quotients() && weights >= runs;
        if !takes_weights && !takes_runs && indices.pending.is_empty() && zeros.pending.is_empty() {
            return None;
        }
        let first = if takes_weights { indices.first_digits(bits)? } else { 0 };
        let new_zeros = if takes_runs { zeros.run_quotients(bits)? } else { Vec::new() };
        let new_indices = if takes_weights { indices.weight_quotients(bits, first)? } else { Vec::new() };
        indices.remainders(bits, new_indices)?;
        zeros.remainders(bits, new_zeros)?;
    }
    Some(())
}

/// The most weights of a stream, far above those of an operation for microcontrollers: runs of zeros take a bit for each 8 weights.
const MOST_WEIGHTS: usize = 1 << 26;

/// Appends weights with the zeros before and behind.
fn join(palette: &Palette, indices: &Lane, zeros: &Lane, leading: usize, weights: &mut Vec<i16>) -> Option<()> {
    let zero = |count: Option<&u32>, weights: &mut Vec<i16>| {
        let count = count.copied().unwrap_or(0) as usize;
        (weights.len().saturating_add(count) <= MOST_WEIGHTS).then_some(())?;
        weights.extend(std::iter::repeat_n(0, count));
        Some(())
    };
    zero(zeros.values.first().filter(|_| leading > 0), weights)?;
    for (position, index) in indices.values.iter().enumerate() {
        weights.push((*index < INDICES).then(|| palette.weight(*index))?);
        zero(zeros.values.get(position + leading), weights)?;
    }
    Some(())
}

/// How quotients are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotients {
    /// Not at all.
    None,
    /// A digit of 0, 1 or 2: a bit, and a second bit for a first of 1. A 2 goes on, unless the quotients are truncated at 2.
    Weights { is_truncated: bool },
    /// A bit of 1 goes on.
    Runs,
}

/// The numbers of one kind in a slice: indices of weights, or lengths of zero runs.
#[derive(Debug)]
struct Lane {
    quotients: Quotients,
    count: usize,
    shift: usize,
    digits: usize,
    /// Quotients found, whether or not their remainders are read.
    found: usize,
    /// A quotient that goes on in the next chunk.
    carry: u32,
    /// The quotients of the chunk before.
    pending: Vec<u32>,
    values: Vec<u32>,
}

impl Lane {
    const fn new(quotients: Quotients, count: usize, shift: usize, digits: usize) -> Self {
        Self { quotients, count, shift, digits, found: 0, carry: 0, pending: Vec::new(), values: Vec::new() }
    }

    const fn is_done(&self) -> bool {
        self.values.len() >= self.count
    }

    const fn needs_quotients(&self) -> bool {
        self.found < self.count
    }

    fn first_digits(&self, bits: &mut Bits<'_>) -> Option<u32> {
        if self.quotients == Quotients::None { Some(0) } else { bits.take(DIGITS) }
    }

    fn run_quotients(&mut self, bits: &mut Bits<'_>) -> Option<Vec<u32>> {
        let word = bits.take(self.digits)?;
        let digits = (0..self.digits).map(|digit| (word >> digit & 1, word >> digit & 1 != 0));
        Some(self.collect(digits.collect()))
    }

    fn weight_quotients(&mut self, bits: &mut Bits<'_>, first: u32) -> Option<Vec<u32>> {
        let is_truncated = self.quotients == Quotients::Weights { is_truncated: true };
        let mut second = bits.take(first.count_ones() as usize)?;
        let digits = (0..self.digits).map(|digit| {
            if first >> digit & 1 == 0 {
                return (0, false);
            }
            let code = 1 + (second & 1);
            second >>= 1;
            (code, code == 2 && !is_truncated)
        });
        let digits = digits.collect();
        Some(self.collect(digits))
    }

    /// The quotients of digits, each of which adds a number and may go on. Digits behind the last quotient fill.
    fn collect(&mut self, digits: Vec<(u32, bool)>) -> Vec<u32> {
        let mut quotients = Vec::new();
        for (code, goes_on) in digits {
            self.carry = self.carry.saturating_add(code);
            if !goes_on && self.found < self.count {
                quotients.push(std::mem::take(&mut self.carry));
                self.found += 1;
            }
        }
        quotients
    }

    /// Reads the remainders of the chunk before, and keeps the quotients of this one.
    fn remainders(&mut self, bits: &mut Bits<'_>, quotients: Vec<u32>) -> Option<()> {
        for quotient in std::mem::replace(&mut self.pending, quotients) {
            let remainder = bits.take(self.shift)?;
            self.values.push(quotient.saturating_mul(1 << self.shift).saturating_add(remainder));
        }
        Some(())
    }
}
