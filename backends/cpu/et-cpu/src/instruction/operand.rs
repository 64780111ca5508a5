//! Operand addresses, dtypes and qparams.

use et_core::{Error, Result};
use et_gemm::{Int4Format, Scales};

use crate::record::{SlotNumber, records};

records! {
    /// The address of an operand tensor.
    pub struct Place {
        /// The slot with the tensor's memory.
        pub slot: SlotNumber,
        /// The byte offset from the start of the slot.
        pub offset: u32,
    }

    /// A matrix with a row stride; the column stride is 1.
    pub struct Rows {
        /// The first element of the matrix.
        pub place: Place,
        /// The row stride, in elements.
        pub stride: u32,
    }

    /// The dtype and per-tensor qparams of a tensor: f32, or int8 for `scale * (byte - zero_point)`.
    pub struct Numbers {
        /// The quantization scale; 0 for f32 tensors.
        pub scale: f32,
        /// The zero point.
        pub zero_point: i32,
    }

    /// The packed format of blockwise int4 weights.
    pub struct Groups {
        /// Block size: elements of K that share a scale; 0 for int8 weights.
        pub size: u32,
        /// 1 where the panels have a bias row.
        pub is_biased: u32,
        /// The format of block scales: 0 for FP16, 1 for integer steps of a second-level scale.
        pub scales: u32,
    }
}

impl Groups {
    /// The weights are int8.
    pub const NONE: Self = Self { size: 0, is_biased: 0, scales: 0 };

    /// The blob fields of an int4 packed format.
    pub const fn of(form: Int4Format) -> Self {
        let scales = match form.scales {
            Scales::Halves => 0,
            Scales::Steps => 1,
        };
        Self { size: form.group as u32, is_biased: form.is_biased as u32, scales }
    }

    /// The int4 packed format; `None` for int8 weights.
    ///
    /// # Errors
    /// [`Error::InvalidProgram`] for an unknown format of block scales.
    pub fn form(&self) -> Result<Option<Int4Format>> {
        let scales = match self.scales {
            0 => Scales::Halves,
            1 => Scales::Steps,
            _ => return Err(Error::InvalidProgram),
        };
        let form = Int4Format { group: self.size as usize, is_biased: self.is_biased == 1, scales };
        Ok((self.size > 0).then_some(form))
    }
}

impl Numbers {
    /// An f32 tensor.
    pub const REAL: Self = Self { scale: 0.0, zero_point: 0 };

    /// Whether the tensor is int8.
    pub fn are_bytes(&self) -> bool {
        self.scale != 0.0
    }
}

impl Place {
    /// The address of an absent operand.
    pub const ABSENT: Self = Self { slot: SlotNumber::NONE, offset: 0 };

    /// Whether the operand is present.
    pub const fn is_present(&self) -> bool {
        self.slot.0 != SlotNumber::NONE.0
    }
}
