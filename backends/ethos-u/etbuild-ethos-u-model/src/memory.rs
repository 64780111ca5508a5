//! The memory that an NPU reads and writes: regions with base addresses, and the memory inside the NPU.

use crate::fault::Problem;

/// Memory behind one or more regions.
#[derive(Debug)]
pub enum Bank<'a> {
    /// Memory that the NPU only reads, such as weights in flash.
    Constant(&'a [u8]),
    /// Memory that the NPU writes too.
    Writable(&'a mut [u8]),
}

/// The memory of a command stream. Addresses of a region are offsets into its bank.
#[derive(Debug, Default)]
pub struct Memory<'a> {
    banks: Vec<(Bank<'a>, u8)>,
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
    /// Adds memory for regions, each a number below 8. Of two banks with the same region the first is used.
    #[must_use]
    pub fn with(mut self, regions: &[u8], bank: Bank<'a>) -> Self {
        let mask = regions.iter().filter(|region| **region < 8).fold(0, |mask, region| mask | 1 << region);
        self.banks.push((bank, mask));
        self
    }

    /// Gives the memory inside the NPU a size; what was there is lost.
    pub fn reset(&mut self, internal: usize) {
        self.internal = vec![0; internal];
    }

    /// The bytes of all regions.
    pub fn size(&self) -> usize {
        let size = |(bank, _): &(Bank<'_>, u8)| match bank {
            Bank::Constant(bytes) => bytes.len(),
            Bank::Writable(bytes) => bytes.len(),
        };
        self.banks.iter().map(size).sum()
    }

    /// All bytes of a place.
    pub fn bytes(&self, place: Place) -> &[u8] {
        let Place::Region(region) = place else { return &self.internal };
        match self.banks.iter().find(|(_, mask)| mask >> region & 1 != 0) {
            Some((Bank::Constant(bytes), _)) => bytes,
            Some((Bank::Writable(bytes), _)) => bytes,
            None => &[],
        }
    }

    fn writable(&mut self, place: Place) -> &mut [u8] {
        let Place::Region(region) = place else { return &mut self.internal };
        match self.banks.iter_mut().find(|(_, mask)| *mask >> region & 1 != 0) {
            Some((Bank::Writable(bytes), _)) => bytes,
            _ => &mut [],
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
    fn regions_share_a_bank_and_constant_memory_is_not_written() {
        let (weights, mut scratch) = ([1_u8; 4], [0_u8; 4]);
        let mut memory =
            Memory::default().with(&[0], Bank::Constant(&weights)).with(&[1, 2], Bank::Writable(&mut scratch));
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
