//! What a planner is asked, and what it answers.

use etbuild_ir::Lifetime;

/// Items that want places in a bank.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// What is to be placed.
    pub items: Vec<Item>,
    /// What every offset must be a multiple of.
    pub alignment: u64,
    /// The bytes that the bank has; `None` for as many as needed.
    pub capacity: Option<u64>,
}

/// Bytes that are needed for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The number of bytes.
    pub size: u64,
    /// When they are needed.
    pub lifetime: Lifetime,
}

/// Places in a bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The offset of each item; `None` where it does not fit.
    pub offsets: Vec<Option<u64>>,
    /// The number of bytes up to the end of the last item.
    pub size: u64,
}

impl PlanRequest {
    /// Whether an item of `size` bytes at `offset` ends inside the bank.
    pub(super) fn fits(&self, offset: u64, size: u64) -> bool {
        let end = offset.checked_add(size);
        end.is_some_and(|end| self.capacity.is_none_or(|capacity| end <= capacity))
    }

    /// The first offset from `position` on that an item may have.
    pub(super) fn align(&self, position: u64) -> u64 {
        position.checked_next_multiple_of(self.alignment).unwrap_or(u64::MAX)
    }

    /// The layout that these places make.
    pub(super) fn layout(&self, offsets: Vec<Option<u64>>) -> Layout {
        let ends = self.items.iter().zip(&offsets).filter_map(|(item, offset)| Some((*offset)? + item.size));
        Layout { size: ends.max().unwrap_or(0), offsets }
    }
}
