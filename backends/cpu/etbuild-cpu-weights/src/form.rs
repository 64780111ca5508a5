//! The forms of packed weights.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use et_cpu::SlotNumber;
use et_gemm::{BlockFormat, Halves, Scales};
use etbuild_ir::{ConstantData, Digest};
use etbuild_weights::reals;
use rayon::prelude::*;

use crate::groups::Groups;

/// The numbers that are judged together.
const PART: usize = 1 << 20;

/// The form of weights.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// `float32`, and a bias for each column or none.
    Floats(Vec<f32>),
    /// Bytes: the scale of each column's sums, and its bias in steps of them.
    Bytes(Vec<f32>, Vec<i32>),
    /// int8 for dynamically quantized rows, `f32` rows and embedding tables: the scale of each column, and a bias per column or none.
    BytesForRows(Vec<f32>, Vec<f32>),
    /// Blockwise weights.
    Groups(Box<Groups>),
    /// 16-bit weights that hold the `float32` numbers exactly, and a bias for each column or none.
    Halves(Halves, Vec<f32>),
}

impl Form {
    /// The form of the weights of a matrix: 16-bit where all are exact in that type, as those of a checkpoint in `bfloat16` are. Another
    /// adapter's weights may need more.
    #[must_use]
    pub fn narrowed(self, weights: &ConstantData, adapter: Option<&str>) -> Self {
        match self {
            Self::Floats(bias) if adapter.is_none() => match holding(weights) {
                Some(kind) => Self::Halves(kind, bias),
                None => Self::Floats(bias),
            },
            other => other,
        }
    }

    /// Whether a GEMM multiplies int8 rows of K = `inner` with `row_blocks` qparams each, found at run time, by the weights.
    pub fn multiplies_rows(&self, inner: usize, row_blocks: usize) -> bool {
        match self {
            Self::Floats(_) | Self::Halves(..) | Self::Bytes(..) => false,
            Self::BytesForRows(..) => row_blocks == 1,
            Self::Groups(groups) => groups.format.divides_rows(inner, row_blocks),
        }
    }

    /// Gives the forms of a stack one packed format. `None` for forms of several types, and for forms with a bias and without one.
    pub fn unify<'f>(forms: impl Iterator<Item = &'f mut Self>) -> Option<()> {
        let mut forms: Vec<&mut Self> = forms.collect();
        // Steps are no FP16 numbers in general, so that f32 is what holds both.
        let of = |form: &mut Self| if let Self::Groups(groups) = form { Some(groups.format.scales) } else { None };
        let scales: Vec<Scales> = forms.iter_mut().filter_map(|form| of(form)).collect();
        if scales.iter().any(|one| Some(one) != scales.first()) {
            for form in &mut forms {
                if let Self::Groups(groups) = &mut **form {
                    groups.format.scales = Scales::Floats;
                }
            }
        }
        let (first, others) = forms.split_first()?;
        others.iter().all(|form| form.is_like(first)).then_some(())
    }

    /// Whether weights of one shape have equal sizes and layouts in both forms.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Floats(_), Self::Floats(_))
            | (Self::Bytes(..), Self::Bytes(..))
            | (Self::BytesForRows(..), Self::BytesForRows(..)) => true,
            (Self::Groups(one), Self::Groups(other)) => one.format == other.format,
            (Self::Halves(one, _), Self::Halves(other, _)) => one == other,
            _ => false,
        }
    }

    /// The operand of weights in this form.
    pub const fn weights(&self, slot: SlotNumber) -> et_cpu::Weights {
        match self {
            Self::Floats(_) => et_cpu::Weights::of_bits(slot, 32),
            Self::Bytes(..) | Self::BytesForRows(..) => et_cpu::Weights::of_bits(slot, 8),
            Self::Groups(groups) => et_cpu::Weights::of_form(slot, groups.format),
            Self::Halves(kind, _) => et_cpu::Weights::of_halves(slot, *kind),
        }
    }

    /// A text that no other form has.
    pub(crate) fn identity(&self) -> String {
        let floats = |numbers: &[f32]| Digest::of(&reals::stored(numbers));
        let integers =
            |numbers: &[i32]| Digest::of(&numbers.iter().copied().flat_map(i32::to_le_bytes).collect::<Vec<u8>>());
        match self {
            Self::Floats(bias) => format!("floats {}", floats(bias)),
            Self::Halves(kind, bias) => format!("{kind:?} {}", floats(bias)),
            Self::Bytes(scales, bias) => format!("bytes {} {}", floats(scales), integers(bias)),
            Self::BytesForRows(scales, bias) => {
                format!("bytes for rows {} {}", floats(scales), floats(bias))
            }
            Self::Groups(groups) => {
                let Groups { format, scales, offsets, bias } = &**groups;
                let BlockFormat { group, width, is_biased: _, has_offsets: _, scales: kind } = format;
                let offsets = offsets
                    .as_ref()
                    .map(|offsets| format!("{} {}", offsets.elements.digest(), offsets.least))
                    .unwrap_or_default();
                format!("groups of {group} {width:?} {kind:?} {} {} {offsets}", scales.digest(), floats(bias))
            }
        }
    }
}

/// The 16-bit type that holds all numbers exactly. Methods and sizes of inputs share weights, which are read once.
fn holding(weights: &ConstantData) -> Option<Halves> {
    static KNOWN: Mutex<BTreeMap<Digest, Option<Halves>>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let digest = weights.digest();
    if let Some(kind) = known().get(&digest) {
        return *kind;
    }
    let kind = searched(weights);
    known().insert(digest, kind);
    kind
}

fn searched(weights: &ConstantData) -> Option<Halves> {
    let numbers = weights.bytes().as_chunks::<4>().0;
    let holds = |kind: Halves| {
        numbers.par_chunks(PART).all(|part| part.iter().all(|number| kind.bits(f32::from_le_bytes(*number)).is_some()))
    };
    Halves::ALL.into_iter().find(|kind| holds(*kind))
}
