//! `etbuild::attend_block`: attention of the rows of a block, such as the image tokens of a picture, which see each other in both
//! directions, to the KV cache.

use super::attend_cache::{infer, run};
use crate::prelude::*;

/// As `etbuild::attend_cache`, but each row sees the rows up to `last`, and not only those up to its own (prefix-LM attention among the
/// tokens of a picture, Gemma 3). A nonzero `window` limits the positions up to a row's own, as there.
#[cfg(feature = "catalogue")]
pub const ATTEND_BLOCK: Operator = Operator {
    schema: "etbuild::attend_block.out(Tensor query, Tensor keys, Tensor values, Tensor start, Tensor last, float scale, \
             int window=0, float soft_cap=0.0, Tensor? slopes=None, Tensor? sinks=None, int columns=0, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "etbuild::attend_block",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long).with(ScalarType::Char),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "the first row sees the second",
            1e-6,
            &[
                Tensor(QUERY),
                Tensor(KEYS),
                Tensor(VALUES),
                Tensor(ONE),
                Tensor(ONE),
                Double(0.5),
                Int(0),
                Double(0.0),
                NONE,
                NONE,
                Int(0),
            ],
            &[CaseTensor::float(&[1, 2, 2, 1], &[1.8791278601, 2.1992845535, 1.9277795553, 2.4205124378])],
        ),
        Case::near(
            "a window around the end of the cache, and a cap",
            1e-6,
            &[
                Tensor(QUERY),
                Tensor(KEYS),
                Tensor(VALUES),
                Tensor(CaseTensor::long(&[1], &[3.0])),
                Tensor(ONE),
                Double(2.0),
                Int(2),
                Double(1.5),
                NONE,
                NONE,
                Int(0),
            ],
            &[CaseTensor::float(&[1, 2, 2, 1], &[1.1478431225, 2.4448029995, 1.0, 1.0])],
        ),
        Case::refused(
            "a text longer than the cache",
            &[
                Tensor(QUERY),
                Tensor(KEYS),
                Tensor(VALUES),
                Tensor(CaseTensor::long(&[1], &[3.0])),
                Tensor(ONE),
                Double(1.0),
                Int(0),
                Double(0.0),
                NONE,
                NONE,
                Int(0),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// No slopes, or no sinks.
#[cfg(feature = "catalogue")]
const NONE: CaseArgument = CaseArgument::None;
const ONE: CaseTensor = CaseTensor::long(&[1], &[1.0]);
const QUERY: CaseTensor = CaseTensor::float(&[1, 2, 2, 1], &[1.0, -1.0, 0.5, -2.0]);
const KEYS: CaseTensor = CaseTensor::float(&[1, 4, 1, 1], &[0.0, 1.0, -1.0, 0.5]);
const VALUES: CaseTensor = CaseTensor::float(&[1, 4, 1, 1], &[1.0, 2.0, 3.0, 1.0]);

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    run::<D>(args, true)
}
