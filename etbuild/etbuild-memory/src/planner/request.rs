//! Requests to planners, and the layouts that planners return.

use etbuild_ir::Lifetime;

/// Items to place in a bank.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// The items.
    pub items: Vec<Item>,
    /// The alignment of every offset, in bytes.
    pub alignment: u64,
    /// The size of the bank in bytes; `None` for an unlimited bank.
    pub capacity: Option<u64>,
}

/// Bytes with a lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The size in bytes.
    pub size: u64,
    /// The steps during which the bytes are in use.
    pub lifetime: Lifetime,
}

/// The places of the items of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The offset of each item; `None` for an item that does not fit.
    pub offsets: Vec<Option<u64>>,
    /// The end of the last item, in bytes.
    pub size: u64,
}

impl PlanRequest {
    /// Whether an item of `size` bytes at `offset` ends inside the bank.
    pub(super) fn fits(&self, offset: u64, size: u64) -> bool {
        let end = offset.checked_add(size);
        end.is_some_and(|end| self.capacity.is_none_or(|capacity| end <= capacity))
    }

    /// The first aligned offset from `position` on.
    pub(super) fn align(&self, position: u64) -> u64 {
        position.checked_next_multiple_of(self.alignment).unwrap_or(u64::MAX)
    }

    /// The layout with these offsets.
    pub(super) fn layout(&self, offsets: Vec<Option<u64>>) -> Layout {
        let ends = self.items.iter().zip(&offsets).filter_map(|(item, offset)| Some((*offset)? + item.size));
        Layout { size: ends.max().unwrap_or(0), offsets }
    }
}
