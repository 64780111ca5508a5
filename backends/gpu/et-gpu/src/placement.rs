//! Places objects in memory that objects with disjoint lifetimes share.

use core::cmp::Reverse;

/// The memory that a driver wants for an object.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The size in bytes.
    pub size: u64,
    /// The alignment in bytes, a power of two.
    pub alignment: u64,
    /// The types of memory that can hold the object, a bit each.
    pub types: u32,
}

/// An object to place.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// The size in bytes.
    pub size: u64,
    /// The alignment in bytes, a power of two.
    pub alignment: u64,
    /// The first and the last dispatch that uses the object.
    pub life: [u32; 2],
}

/// A place in an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The allocation.
    pub allocation: usize,
    /// The first byte.
    pub offset: u64,
    /// The size in bytes.
    pub size: u64,
}

impl Place {
    /// Whether two places have common bytes.
    pub const fn overlaps(&self, other: &Self) -> bool {
        self.allocation == other.allocation
            && self.offset < other.offset + other.size
            && other.offset < self.offset + self.size
    }
}

/// The places of objects, and the sizes of the allocations.
#[derive(Debug, Default)]
pub struct Placement {
    /// A place for each object.
    pub places: Vec<Place>,
    /// The bytes of each allocation.
    pub allocations: Vec<u64>,
}

/// Places objects, the largest first, each at the lowest free offset; no allocation has more than `most` bytes. `None` if an
/// object is larger.
pub fn place(items: &[Item], most: u64) -> Option<Placement> {
    let mut order: Vec<_> = (0..).zip(items).collect();
    order.sort_by_key(|(index, item): &(usize, _)| (Reverse(item.size), *index));
    let mut placement =
        Placement { places: vec![Place { allocation: 0, offset: 0, size: 0 }; items.len()], allocations: Vec::new() };
    let mut placed: Vec<Vec<(Place, [u32; 2])>> = Vec::new();
    for (index, item) in order {
        let (allocation, offset) = (0..=placed.len()).find_map(|allocation| {
            let others = placed.get(allocation).map_or(&[][..], Vec::as_slice);
            gap(item, others, most).map(|offset| (allocation, offset))
        })?;
        let place = Place { allocation, offset, size: item.size };
        if allocation == placed.len() {
            placed.push(Vec::new());
            placement.allocations.push(0);
        }
        // Sorted by offset.
        let others = placed.get_mut(allocation)?;
        let at = others.partition_point(|(other, _)| other.offset <= offset);
        others.insert(at, (place, item.life));
        let size = placement.allocations.get_mut(allocation)?;
        *size = (*size).max(offset + item.size);
        *placement.places.get_mut(index)? = place;
    }
    Some(placement)
}

/// The lowest offset where an object fits among others, which are sorted by offset.
fn gap(item: &Item, others: &[(Place, [u32; 2])], most: u64) -> Option<u64> {
    let mut offset = 0_u64;
    let alive = others.iter().filter(|(_, life)| life[0] <= item.life[1] && item.life[0] <= life[1]);
    for (place, _) in alive {
        if offset.checked_add(item.size)? <= place.offset {
            break;
        }
        offset = offset.max((place.offset + place.size).checked_next_multiple_of(item.alignment)?);
    }
    (offset.checked_add(item.size)? <= most).then_some(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(size: u64, first: u32, last: u32) -> Item {
        Item { size, alignment: 16, life: [first, last] }
    }

    #[test]
    fn objects_with_disjoint_lifetimes_share_memory() {
        let placement = place(&[item(100, 0, 1), item(50, 1, 2), item(100, 2, 3)], 1000).unwrap();
        assert_eq!(placement.allocations, [162]);
        let [one, two, three] = placement.places[..] else { panic!() };
        assert!(one.overlaps(&three) && !one.overlaps(&two) && !two.overlaps(&three));
        assert_eq!((one.offset, two.offset, three.offset), (0, 112, 0));
    }

    #[test]
    fn a_full_allocation_is_followed_by_another() {
        let placement = place(&[item(100, 0, 9), item(100, 0, 9), item(16, 0, 9)], 128).unwrap();
        assert_eq!(placement.allocations, [128, 100]);
        assert!(place(&[item(129, 0, 0)], 128).is_none());
    }

    #[test]
    fn live_objects_never_overlap_and_are_aligned() {
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let items: Vec<_> = (0..200)
            .map(|_| {
                let first = random(50) as u32;
                Item { size: 1 + random(999), alignment: 1 << random(8), life: [first, first + random(9) as u32] }
            })
            .collect();
        let places = place(&items, 3000).unwrap().places;
        for (index, (place, item)) in places.iter().zip(&items).enumerate() {
            assert!(place.offset.is_multiple_of(item.alignment) && place.offset + place.size <= 3000);
            for (other, other_item) in places.iter().zip(&items).skip(index + 1) {
                let meet = item.life[0] <= other_item.life[1] && other_item.life[0] <= item.life[1];
                assert!(!meet || !place.overlaps(other));
            }
        }
    }
}
