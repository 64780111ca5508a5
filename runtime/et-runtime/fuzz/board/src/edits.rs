//! Edits of a seed, which follow from the number of the round.

/// Numbers at which sizes and offsets overflow.
const EDGES: [u32; 12] =
    [0, 1, 2, 4, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, 0xffff_ffff];

/// A series of numbers (xorshift, Marsaglia 2003).
pub struct Edits(u32);

impl Edits {
    pub const fn new(round: u32) -> Self {
        Self(round.wrapping_mul(0x9e37_79b9) | 1)
    }

    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 4) as usize % below.max(1)
    }

    /// Writes one of the seeds with up to eight edits into `file`; how many bytes it has.
    pub fn edited(&mut self, seeds: &[u8], file: &mut [u8]) -> usize {
        let count = of_seeds(seeds).count();
        let chosen = self.next(count);
        let seed = of_seeds(seeds).nth(chosen).expect("a seed");
        let mut size = seed.len().min(file.len());
        file[..size].copy_from_slice(&seed[..size]);
        for _ in 0..self.next(8) {
            size = self.edit(&mut file[..size]);
        }
        size
    }

    /// Edits a file; how many of its bytes are left.
    fn edit(&mut self, file: &mut [u8]) -> usize {
        if file.len() < 8 {
            return file.len();
        }
        let place = self.next(file.len() - 3);
        match self.next(16) {
            0 => return place,
            1..=3 => file[place] ^= 1 << self.next(8),
            4..=6 => file[place] = self.next(256) as u8,
            7 | 8 => {
                let (from, size) = (self.next(file.len()), self.next(64));
                let size = size.min(file.len() - from.max(place));
                file.copy_within(from..from + size, place);
            }
            // Numbers of program files are aligned.
            kind => {
                let place = place & !3;
                let edge = EDGES[self.next(EDGES.len())];
                let near = edge.wrapping_add(self.next(8) as u32).wrapping_sub(4);
                let number = if kind % 2 == 0 { edge } else { near };
                file[place..place + 4].copy_from_slice(&number.to_le_bytes());
            }
        }
        file.len()
    }
}

/// The seeds of a file: each is behind its length, a little-endian number of 32 bits.
fn of_seeds(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    core::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk()?;
        let (seed, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        bytes = rest;
        Some(seed)
    })
}
