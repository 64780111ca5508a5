//! Where operands lie and what their elements stand for.

use et_core::{Error, Result};
use et_gemm::{NibbleForm, Scales};

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

    /// How half bytes are packed.
    pub struct Groups {
        /// Elements of a group; 0 where weights are no half bytes.
        pub size: u32,
        /// 1 where columns have biases.
        pub is_biased: u32,
        /// The form of scales: 0 for `float16`, 1 for steps.
        pub scales: u32,
    }
}

impl Groups {
    /// Weights are no half bytes.
    pub const NONE: Self = Self { size: 0, is_biased: 0, scales: 0 };

    /// Those of a form.
    pub const fn of(form: NibbleForm) -> Self {
        let scales = match form.scales {
            Scales::Halves => 0,
            Scales::Steps => 1,
        };
        Self { size: form.group as u32, is_biased: form.is_biased as u32, scales }
    }

    /// The form; `None` where weights are no half bytes.
    ///
    /// # Errors
    /// [`Error::InvalidProgram`] for scales of no known form.
    pub fn form(&self) -> Result<Option<NibbleForm>> {
        let scales = match self.scales {
            0 => Scales::Halves,
            1 => Scales::Steps,
            _ => return Err(Error::InvalidProgram),
        };
        let form = NibbleForm { group: self.size as usize, is_biased: self.is_biased == 1, scales };
        Ok((self.size > 0).then_some(form))
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
