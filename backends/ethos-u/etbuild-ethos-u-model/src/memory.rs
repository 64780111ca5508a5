//! The memory that an NPU reads and writes: regions with base addresses, and the memory inside the NPU.

use crate::fault::Problem;

/// The regions of the scratch memory; region 0 has the weights. So Vela numbers regions.
const SCRATCH: [u8; 2] = [1, 2];

/// The memory of a command stream. Addresses of a region are offsets into its memory.
#[derive(Debug)]
pub struct Memory<'a> {
    weights: &'a [u8],
    scratch: &'a mut [u8],
    internal: Vec<u8>,
}

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// To a region, of 8.
    Region(u8),
    /// Inside the NPU.
    Internal,
}

impl Place {
    /// The number of the place in messages.
    pub const fn number(self) -> u8 {
        match self {
            Self::Region(region) => region,
            Self::Internal => 8,
        }
    }
}

impl<'a> Memory<'a> {
    /// Weights, which the NPU only reads, such as those in flash, and scratch memory.
    pub const fn of(weights: &'a [u8], scratch: &'a mut [u8]) -> Self {
        Self { weights, scratch, internal: Vec::new() }
    }

    /// Gives the memory inside the NPU a size; what was there is lost.
    pub fn reset(&mut self, internal: usize) {
        self.internal = vec![0; internal];
    }

    /// The bytes of all regions.
    pub const fn size(&self) -> usize {
        self.weights.len() + self.scratch.len()
    }

    /// All bytes of a place.
    pub fn bytes(&self, place: Place) -> &[u8] {
        match place {
            Place::Internal => &self.internal,
            Place::Region(0) => self.weights,
            Place::Region(region) if SCRATCH.contains(&region) => self.scratch,
            Place::Region(_) => &[],
        }
    }

    fn writable(&mut self, place: Place) -> &mut [u8] {
        match place {
            Place::Internal => &mut self.internal,
            Place::Region(region) if SCRATCH.contains(&region) => self.scratch,
            Place::Region(_) => &mut [],
        }
    }

    /// The bytes at an address.
    ///
    /// # Errors
    /// [`Problem::Memory`] outside the place.
    pub fn read(&self, place: Place, address: u64, size: u64) -> Result<&[u8], Problem> {
        let absent = Problem::Memory { region: place.number(), address, size };
        part(address, size).and_then(|range| self.bytes(place).get(range)).ok_or(absent)
    }

    /// Writes bytes to an address.
    ///
    /// # Errors
    /// [`Problem::Memory`] outside the place, and for constant memory.
    pub fn write(&mut self, place: Place, address: u64, bytes: &[u8]) -> Result<(), Problem> {
        let size = bytes.len() as u64;
        let absent = Problem::Memory { region: place.number(), address, size };
        let target = part(address, size).and_then(|range| self.writable(place).get_mut(range)).ok_or(absent)?;
        target.copy_from_slice(bytes);
        Ok(())
    }
}

fn part(address: u64, size: u64) -> Option<std::ops::Range<usize>> {
    let end = usize::try_from(address.checked_add(size)?).ok()?;
    Some(usize::try_from(address).ok()?..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_share_scratch_memory_and_weights_are_not_written() {
        let (weights, mut scratch) = ([1_u8; 4], [0_u8; 4]);
        let mut memory = Memory::of(&weights, &mut scratch);
        memory.write(Place::Region(1), 2, &[7, 8]).unwrap();
        assert_eq!(memory.read(Place::Region(2), 3, 1).unwrap(), [8]);
        for (place, address, size) in
            [(Place::Region(0), 3, 2), (Place::Region(3), 0, 1), (Place::Region(1), u64::MAX, 1)]
        {
            let region = place.number();
            assert_eq!(memory.read(place, address, size), Err(Problem::Memory { region, address, size }));
        }
        assert!(memory.write(Place::Region(0), 0, &[1]).is_err());
    }
}
