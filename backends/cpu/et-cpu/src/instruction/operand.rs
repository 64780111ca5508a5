//! Operand addresses, dtypes and qparams.

use et_core::{Error, Result};
use et_gemm::{BlockFormat, Halves, Scales, Width};
use et_record::{numbered, records};

use crate::record::SlotNumber;

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
    pub struct QParams {
        /// The quantization scale; 0 for f32 tensors.
        pub scale: f32,
        /// The zero point.
        pub zero_point: i32,
    }

    /// The qparams of int8 rows that are quantized at run time: per token, or in blocks of a token, with zero points of 0.
    pub struct RowScales {
        /// Two words per block: the scale and the zero point.
        pub place: Place,
        /// Blocks per row.
        pub blocks: u32,
    }

    /// Packed weights of a GEMM, with bias.
    pub struct Weights {
        /// The slot of the panels.
        pub slot: SlotNumber,
        /// Bits of a weight: 32 for f32, 16 for fp16 and bf16, 8 for int8, 6 for int6, 4 for int4.
        pub bits: u32,
        /// Whether 16-bit weights are bf16.
        pub is_bfloat: bool,
        /// Block size: elements of K that share a scale; 0 for floating-point weights and for int8 weights with a scale per column.
        pub group: u32,
        /// Whether the panels of blockwise weights have a bias row.
        pub is_biased: bool,
        /// Whether blocks have offsets.
        pub has_offsets: bool,
        /// The format of the block scales and offsets.
        pub scales: BlockScales,
    }
}

numbered! {
    /// The format of the block scales.
    pub enum BlockScales {
        /// FP16.
        Halves,
        /// Integer steps of a second-level scale.
        Steps,
        /// f32.
        Floats,
        /// Signed integer steps of a second-level scale for each super-block.
        SuperBlocks,
    }
}

impl Weights {
    /// f32 or per-channel int8 weights.
    pub const fn of_bits(slot: SlotNumber, bits: u32) -> Self {
        let scales = BlockScales::Halves;
        Self { slot, bits, is_bfloat: false, group: 0, is_biased: false, has_offsets: false, scales }
    }

    /// fp16 or bf16 weights.
    pub const fn of_halves(slot: SlotNumber, kind: Halves) -> Self {
        Self { is_bfloat: matches!(kind, Halves::Bf16), ..Self::of_bits(slot, 16) }
    }

    /// The type of 16-bit weights; `None` for other weights.
    pub const fn halves(&self) -> Option<Halves> {
        match (self.bits, self.is_bfloat) {
            (16, true) => Some(Halves::Bf16),
            (16, false) => Some(Halves::Fp16),
            _ => None,
        }
    }

    /// Blockwise weights.
    pub const fn of_form(slot: SlotNumber, form: BlockFormat) -> Self {
        let scales = match form.scales {
            Scales::Halves => BlockScales::Halves,
            Scales::Steps => BlockScales::Steps,
            Scales::Floats => BlockScales::Floats,
            Scales::SuperBlocks => BlockScales::SuperBlocks,
        };
        let bits = match form.width {
            Width::Int4 => 4,
            Width::Int6 => 6,
            Width::Int8 => 8,
        };
        let BlockFormat { group, is_biased, has_offsets, .. } = form;
        Self { slot, bits, is_bfloat: false, group: group as u32, is_biased, has_offsets, scales }
    }

    /// The format of blockwise weights; `None` for other weights.
    ///
    /// # Errors
    /// [`Error::InvalidProgram`] for int4 and int6 weights without blocks.
    pub fn form(&self) -> Result<Option<BlockFormat>> {
        let scales = match self.scales {
            BlockScales::Halves => Scales::Halves,
            BlockScales::Steps => Scales::Steps,
            BlockScales::Floats => Scales::Floats,
            BlockScales::SuperBlocks => Scales::SuperBlocks,
        };
        let (group, is_biased, has_offsets) = (self.group as usize, self.is_biased, self.has_offsets);
        let width = match (self.bits, group) {
            (4 | 6, 0) => return Err(Error::InvalidProgram),
            (4, _) => Width::Int4,
            (6, _) => Width::Int6,
            (8, 1..) => Width::Int8,
            _ => return Ok(None),
        };
        Ok(Some(BlockFormat { group, width, is_biased, has_offsets, scales }))
    }
}

impl QParams {
    /// An f32 tensor.
    pub const FLOAT: Self = Self { scale: 0.0, zero_point: 0 };

    /// Whether the tensor is int8.
    pub fn is_int8(&self) -> bool {
        self.scale != 0.0
    }
}

impl Rows {
    /// The matrix of an absent operand.
    pub const ABSENT: Self = Self { place: Place::ABSENT, stride: 0 };
}

impl RowScales {
    /// No such qparams.
    pub const ABSENT: Self = Self { place: Place::ABSENT, blocks: 0 };

    /// Whether there are qparams.
    pub const fn is_present(&self) -> bool {
        self.place.is_present()
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
