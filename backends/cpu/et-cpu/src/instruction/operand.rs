//! Where operands lie and what their elements stand for.

use crate::record::{SlotNumber, records};

records! {
    /// Where an operand begins.
    pub struct Place {
        /// The slot that holds it.
        pub slot: SlotNumber,
        /// Bytes from the slot's begin.
        pub offset: u32,
    }

    /// Rows of a matrix; the elements of a row are neighbours.
    pub struct Rows {
        /// The first element.
        pub place: Place,
        /// Elements from one row to the next.
        pub stride: u32,
    }

    /// What elements stand for: `float32` themselves, or bytes for `scale * (byte - zero_point)`.
    pub struct Numbers {
        /// The distance between two bytes; 0 where elements are `float32`.
        pub scale: f32,
        /// The byte of 0.
        pub zero_point: i32,
    }
}

impl Numbers {
    /// Elements are `float32`.
    pub const REAL: Self = Self { scale: 0.0, zero_point: 0 };

    /// Whether elements are bytes.
    pub fn are_bytes(&self) -> bool {
        self.scale != 0.0
    }
}

impl Place {
    /// An operand that is absent.
    pub const ABSENT: Self = Self { slot: SlotNumber::NONE, offset: 0 };

    /// Whether there is an operand.
    pub const fn is_present(&self) -> bool {
        self.slot.0 != SlotNumber::NONE.0
    }
}
