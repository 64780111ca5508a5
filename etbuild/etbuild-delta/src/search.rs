//! A search for new bytes in old bytes at any place, as rsync does by a rolling hash over blocks; a found block grows in both directions, past
//! small changes as bsdiff does, because addresses in machine code change by little.

use std::ops::Range;

use et_update::Error;

use crate::body::Body;
use crate::near;

/// The least block.
const LEAST_BLOCK: usize = 32;
/// The most blocks of an index, which takes 24 bytes for each.
const BLOCKS_MOST: usize = 1 << 20;
/// The multiplier of the rolling hash, modulo 2^64.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
/// An extension past changes ends this many points below its best.
const PATIENCE: i64 = 64;

/// Old bytes: the position of the file in the header, and the file.
#[derive(Clone, Copy)]
pub struct Old<'a> {
    /// The position of the file.
    pub file: usize,
    /// The bytes of the file.
    pub bytes: &'a [u8],
}

/// The blocks of old bytes, by hash.
pub struct Index<'a> {
    block: usize,
    /// The factor to the power of the length of a block.
    power: u64,
    blocks: Vec<(Old<'a>, usize)>,
    /// Numbers of blocks plus one; 0 for a free slot.
    slots: Vec<u32>,
}

impl<'a> Index<'a> {
    /// Indexes ranges of old files.
    pub fn new(ranges: &[(Old<'a>, Range<usize>)]) -> Self {
        let total: usize = ranges.iter().map(|(_, range)| range.len()).sum();
        let block = (total / BLOCKS_MOST).next_power_of_two().max(LEAST_BLOCK);
        let starts = ranges.iter().flat_map(|(old, range)| {
            let last = (range.end + 1).saturating_sub(block);
            (range.start..last).step_by(block).map(|start| (*old, start))
        });
        let blocks: Vec<(Old<'a>, usize)> = starts.collect();
        let slots = vec![0; (blocks.len() * 2).next_power_of_two().max(2)];
        let power = (0..block).fold(1_u64, |power, _| power.wrapping_mul(FACTOR));
        let mut index = Self { block, power, blocks, slots };
        for number in 0..index.blocks.len() {
            index.insert(number);
        }
        index
    }

    fn insert(&mut self, number: usize) {
        let Some(bytes) = self.blocks.get(number).and_then(|(old, start)| old.bytes.get(*start..*start + self.block))
        else {
            return;
        };
        // Zeros and other fillings would match everywhere and nowhere well.
        if bytes.iter().all(|byte| Some(byte) == bytes.first()) {
            return;
        }
        let slot = self.slot(hash(bytes));
        if let Some(slot) = self.slots.get_mut(slot)
            && *slot == 0
        {
            *slot = number as u32 + 1;
        }
    }

    fn slot(&self, hash: u64) -> usize {
        (hash.wrapping_mul(FACTOR) >> 20) as usize & (self.slots.len() - 1)
    }

    /// The old block with the bytes of `window`, which have this hash.
    fn find(&self, hash: u64, window: &[u8]) -> Option<(Old<'a>, usize)> {
        let number = (*self.slots.get(self.slot(hash))?).checked_sub(1)?;
        let (old, start) = *self.blocks.get(number as usize)?;
        (old.bytes.get(start..start + self.block)? == window).then_some((old, start))
    }
}

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |hash, byte| roll(hash, *byte))
}

const fn roll(hash: u64, byte: u8) -> u64 {
    hash.wrapping_mul(FACTOR).wrapping_add(byte as u64 + 1)
}

/// Writes `new` by old bytes where the index has them, and as data elsewhere.
pub fn write(body: &mut Body<'_>, index: &Index<'_>, new: &[u8]) -> Result<(), Error> {
    let block = index.block;
    let (mut written, mut at) = (0, 0);
    let mut current = new.get(..block).map_or(0, hash);
    while let Some(window) = new.get(at..at + block) {
        let Some((old, start)) = index.find(current, window) else {
            let (gone, next) = (new.get(at), new.get(at + block));
            let (Some(gone), Some(next)) = (gone, next) else { break };
            current = roll(current, *next).wrapping_sub((u64::from(*gone) + 1).wrapping_mul(index.power));
            at += 1;
            continue;
        };
        let before = suffix(old.bytes.get(..start).unwrap_or_default(), new.get(written..at).unwrap_or_default());
        let after = extend(old.bytes.get(start..).unwrap_or_default(), new.get(at..).unwrap_or_default());
        body.data(new.get(written..at - before).unwrap_or_default())?;
        let (from, to) = (start - before, start + after);
        let found = new.get(at - before..at + after).unwrap_or_default();
        near::write(body, old.file, from as u64, old.bytes.get(from..to).unwrap_or_default(), found)?;
        at += after;
        written = at;
        current = new.get(at..at + block).map_or(0, hash);
    }
    body.data(new.get(written..).unwrap_or_default())
}

/// The number of equal bytes at the ends.
fn suffix(old: &[u8], new: &[u8]) -> usize {
    old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count()
}

/// How far equal bytes outweigh changed bytes.
fn extend(old: &[u8], new: &[u8]) -> usize {
    let (mut best, mut at) = (0, 0);
    let (mut best_score, mut score) = (0, 0);
    loop {
        let same = near::same(old.get(at..).unwrap_or_default(), new.get(at..).unwrap_or_default());
        at += same;
        score += same as i64;
        if score > best_score {
            (best, best_score) = (at, score);
        }
        if at >= old.len().min(new.len()) || score + PATIENCE < best_score {
            return best;
        }
        at += 1;
        score -= 1;
    }
}
