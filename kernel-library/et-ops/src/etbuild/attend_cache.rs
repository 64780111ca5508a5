//! `etbuild::attend_cache`: attention of the rows of a prefill chunk, or of a decode step, to the KV cache.

use core::ops::Range;

use crate::etbuild::byte_row;
use crate::etbuild::span::{self, Span};
use crate::family::attention::{Attention, Keys, Mask};
use crate::family::opmath::{Opmath, Raise};
use crate::family::transfer;
use crate::math::Math;
use crate::prelude::*;
use et_core::{Element, Half, Input};

/// Attention (Vaswani et al. 2017) of `query`, `[batch, rows, heads, depth]`, to `keys` and `values`,
/// `[batch, slots, KV heads, depth or columns]`. Each KV head serves a group of neighbouring query heads (grouped-query
/// attention, Ainslie et al. 2023). Attention is causal; a nonzero `window` limits each row to a sliding window of that
/// many positions. With a `soft_cap`, a score is `tanh(score / soft_cap) * soft_cap` (logit soft-capping, Gemma 2).
/// Padding rows behind `last` see the same positions as `last`. The KV cache must already hold the rows of the chunk. A
/// call is refused if the ring buffer has overwritten a position that a row sees. `slopes`, `[heads]`, are factors of a key's position
/// that are added to the head's scores (ALiBi, Press et al. 2022); `slopes`, `[heads, distances]`, are added to the scores of keys at
/// so many positions ahead of the row's, the last also at larger distances (relative positions, Raffel et al. 2020). `sinks`, `[heads]`, are scores of a key without a value, which
/// takes a share of the weights (attention sinks, Xiao et al. 2024). With a `float32` query, keys and
/// values may be fp16, or int8 with a scale per row: the four bytes of the scale follow the numbers of the row. With `columns`, only so many
/// first elements of a value count, so that values may be the beginnings of keys (multi-head latent attention, DeepSeek-AI 2024).
#[cfg(feature = "catalogue")]
pub const ATTEND_CACHE: Operator = Operator {
    schema: "etbuild::attend_cache.out(Tensor query, Tensor keys, Tensor values, Tensor start, Tensor last, float scale, \
             int window=0, float soft_cap=0.0, Tensor? slopes=None, Tensor? sinks=None, int columns=0, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "etbuild::attend_cache",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long).with(ScalarType::Char),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "two heads of queries for one of keys",
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
            &[CaseTensor::float(&[1, 2, 2, 1], &[1.6224594116, 1.3775407076, 1.9277795553, 2.4205124378])],
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
            &[CaseTensor::float(&[1, 2, 2, 1], &[1.2032557726, 2.7967445850, 1.0, 1.0])],
        ),
        Case::near(
            "a cache in half precision",
            1e-6,
            &[
                Tensor(QUERY),
                Tensor(CaseTensor::of(ScalarType::Half, &[1, 4, 1, 1], &[0.0, 1.0, -1.0, 0.5])),
                Tensor(CaseTensor::of(ScalarType::Half, &[1, 4, 1, 1], &[1.0, 2.0, 3.0, 1.0])),
                Tensor(ONE),
                Tensor(ONE),
                Double(0.5),
                Int(0),
                Double(0.0),
                NONE,
                NONE,
                Int(0),
            ],
            &[CaseTensor::float(&[1, 2, 2, 1], &[1.6224594116, 1.3775407076, 1.9277795553, 2.4205124378])],
        ),
        Case::near(
            "a cache in bytes",
            1e-6,
            &[
                Tensor(QUERY),
                Tensor(KEY_BYTES),
                Tensor(VALUE_BYTES),
                Tensor(ONE),
                Tensor(ONE),
                Double(0.5),
                Int(0),
                Double(0.0),
                NONE,
                NONE,
                Int(0),
            ],
            &[CaseTensor::float(&[1, 2, 2, 1], &[1.6224594116, 1.3775407076, 1.9277795553, 2.4205124378])],
        ),
        Case::near(
            "a slope for each head, and a sink",
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
                Tensor(CaseTensor::float(&[2], &[0.5, -0.25])),
                Tensor(CaseTensor::float(&[2], &[0.0, 1.0])),
                Int(0),
            ],
            &[CaseTensor::float(&[1, 2, 2, 1], &[1.3641753271, 0.4640649677, 1.8583573984, 1.1531200673])],
        ),
        Case::near(
            "a sink for each head",
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
                Tensor(CaseTensor::float(&[2], &[0.0, 1.0])),
                Int(0),
            ],
            &[CaseTensor::float(&[1, 2, 2, 1], &[1.1777941428, 0.5117126640, 1.4532871682, 1.4535508968])],
        ),
        Case::near(
            "a number for each head and distance",
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
                Tensor(CaseTensor::float(&[2, 2], &[0.5, -1.0, 0.0, 2.0])),
                NONE,
                Int(0),
            ],
            &[CaseTensor::float(&[1, 2, 2, 1], &DISTANCES)],
        ),
        Case::near(
            "values that are the beginnings of keys",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 2], &[1.0, -1.0, 0.5, -2.0])),
                Tensor(LATENTS),
                Tensor(LATENTS),
                Tensor(ONE),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Double(0.5),
                Int(0),
                Double(0.0),
                NONE,
                NONE,
                Int(1),
            ],
            &[CaseTensor::float(&[1, 1, 2, 1], &OF_LATENTS)],
        ),
        Case::refused(
            "slopes of other heads",
            &[
                Tensor(QUERY),
                Tensor(KEYS),
                Tensor(VALUES),
                Tensor(ONE),
                Tensor(ONE),
                Double(0.5),
                Int(0),
                Double(0.0),
                Tensor(CaseTensor::float(&[1], &[0.5])),
                NONE,
                Int(0),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "bytes without a scale",
            &[
                Tensor(QUERY),
                Tensor(CaseTensor::of(ScalarType::Char, &[1, 4, 1, 1], &[1.0; 4])),
                Tensor(CaseTensor::of(ScalarType::Char, &[1, 4, 1, 1], &[1.0; 4])),
                Tensor(ONE),
                Tensor(ONE),
                Double(0.5),
                Int(0),
                Double(0.0),
                NONE,
                NONE,
                Int(0),
            ],
            Error::InvalidArgument,
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
        Case::refused(
            "a window wider than the cache has room for",
            &[
                Tensor(QUERY),
                Tensor(KEYS),
                Tensor(VALUES),
                Tensor(CaseTensor::long(&[1], &[3.0])),
                Tensor(ONE),
                Double(1.0),
                Int(4),
                Double(0.0),
                NONE,
                NONE,
                Int(0),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "heads that cannot be shared",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[1.0])),
                Tensor(CaseTensor::float(&[1, 1, 2, 1], &[1.0, 1.0])),
                Tensor(CaseTensor::float(&[1, 1, 2, 1], &[1.0, 1.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
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

/// The position of the number of first elements of a value that count.
const COLUMNS: usize = 10;
/// The position of the result.
const OUT: usize = 11;
/// No slopes, or no sinks.
#[cfg(feature = "catalogue")]
const NONE: CaseArgument = CaseArgument::None;
const ONE: CaseTensor = CaseTensor::long(&[1], &[1.0]);
const DISTANCES: [f64; 4] = [1.8807970780, 1.0758581800, 2.4312753874, 1.6358246729];
/// Two positions of keys, whose first element is the value.
const LATENTS: CaseTensor = CaseTensor::float(&[1, 2, 1, 2], &[0.5, 1.0, -1.0, 2.0]);
const OF_LATENTS: [f64; 2] = [0.1659497918, 0.1972801666];
const QUERY: CaseTensor = CaseTensor::float(&[1, 2, 2, 1], &[1.0, -1.0, 0.5, -2.0]);
const KEYS: CaseTensor = CaseTensor::float(&[1, 4, 1, 1], &[0.0, 1.0, -1.0, 0.5]);
const VALUES: CaseTensor = CaseTensor::float(&[1, 4, 1, 1], &[1.0, 2.0, 3.0, 1.0]);

/// The int8 form of `KEYS`; each row ends with the bytes of its scale, 1 or 0.5 as `f32`.
#[rustfmt::skip]
const KEY_BYTES: CaseTensor = CaseTensor::of(ScalarType::Char, &[1, 4, 1, 5], &[
    0.0, 0.0, 0.0, -128.0, 63.0,
    1.0, 0.0, 0.0, -128.0, 63.0,
    -1.0, 0.0, 0.0, -128.0, 63.0,
    1.0, 0.0, 0.0, 0.0, 63.0,
]);
#[rustfmt::skip]
const VALUE_BYTES: CaseTensor = CaseTensor::of(ScalarType::Char, &[1, 4, 1, 5], &[
    1.0, 0.0, 0.0, -128.0, 63.0,
    4.0, 0.0, 0.0, 0.0, 63.0,
    3.0, 0.0, 0.0, -128.0, 63.0,
    1.0, 0.0, 0.0, -128.0, 63.0,
]);

/// The shape of the result.
pub(super) fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let [query, keys, values] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    let [asking, kept, summed] = [&query, &keys, &values].map(|tensor| tensor.scalar_type());
    span::check(args, [3, 4])?;
    let (mut shape, [keys, values]) = (query.shape(), [keys.shape(), values.shape()]);
    let [batch, _, heads, depth] = four(&shape)?;
    let ([key_batch, slots, own, key_depth], [value_batch, value_slots, value_own, columns]) =
        (four(&keys)?, four(&values)?);
    let one_batch = batch == key_batch && batch == value_batch;
    let behind = if kept == ScalarType::Char { byte_row::SCALE as i32 } else { 0 };
    let one_cache = slots == value_slots && own == value_own && slots > 0 && depth + behind == key_depth;
    let shared = own > 0 && heads % own == 0;
    let is_narrowed = asking == ScalarType::Float && matches!(kept, ScalarType::Half | ScalarType::Char);
    if kept != summed || asking == ScalarType::Char || !(asking == kept || is_narrowed) {
        return Err(Error::InvalidType);
    }
    let of_heads = |position, most_rank| {
        Ok::<_, Error>(args.optional_tensor(position)?.is_none_or(|numbers| {
            let (shape, is_known) = (numbers.shape(), numbers.scalar_type() == asking);
            match shape.sizes() {
                [all] => *all == heads && is_known,
                [all, distances] => *all == heads && *distances > 0 && most_rank == 2 && is_known,
                _ => false,
            }
        }))
    };
    if !(of_heads(8, 2)? && of_heads(9, 1)?) {
        return Err(Error::InvalidArgument);
    }
    let (whole, asked) = (i64::from(columns) - i64::from(behind), args.int(COLUMNS)?);
    let is_within = (0..=whole).contains(&asked);
    if !(one_batch && one_cache && shared && is_within && args.int(6)? >= 0) {
        return Err(Error::InvalidArgument);
    }
    shape.sizes_mut()[3] = if asked > 0 { asked as i32 } else { columns - behind };
    transfer::reshaped(args, shape)
}

/// The sizes of a tensor of four dimensions.
fn four(shape: &Shape) -> Result<[i32; 4]> {
    shape.sizes().try_into().map_err(|_| Error::InvalidArgument)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    run::<D>(args, false)
}

/// Attention of rows that see the rows up to their own, or where `is_mutual` all rows up to `last`.
pub(super) fn run<const D: u32>(args: &Args<'_, '_>, is_mutual: bool) -> Result<()> {
    let out = args.tensor(OUT)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    match (out.scalar_type(), args.tensor(1)?.scalar_type()) {
        (ScalarType::Float, ScalarType::Half) => attend::<f32, Half, _>(args, Cached::new(args, is_mutual)?),
        (ScalarType::Float, ScalarType::Char) if const { Dtypes(D).contains(ScalarType::Char) } => {
            attend::<f32, i8, _>(
                args,
                Scaled {
                    cached: Cached::new(args, is_mutual)?,
                    keys: Scales::new(args, 1)?,
                    values: Scales::new(args, 2)?,
                },
            )
        }
        _ => dispatch!(D, out.scalar_type(), floats, T => attend::<T, T, _>(args, Cached::new(args, is_mutual)?)),
    }
}

/// Attends with queries of `T` to keys and values of `E`.
fn attend<T: Opmath, E: Raise<T::Math>, K: Keys<T::Math>>(args: &Args<'_, '_>, seen: K) -> Result<()>
where
    T::Math: Math,
{
    let [query, keys, values, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?, args.tensor(OUT)?];
    let strides = [&query, &keys, &values, &out].map(|tensor| tensor.strides());
    let span = Span::read(args, [3, 4], query.size(1))?;
    let end = span.end();
    let attention = Attention::<T, E, K> {
        queries: query.input()?,
        keys: keys.input()?,
        values: values.input()?,
        out: out.output()?,
        steps: strides.map(|strides| [strides[1], strides[3]]),
        sizes: [query.size(1), end, query.size(3), out.size(3)],
        scale: T::Math::from_f64(args.double(5)?),
        seen,
    };
    let [slopes, sinks] = [args.optional_tensor(8)?, args.optional_tensor(9)?];
    let number = |numbers: &Option<et_core::Tensor<'_>>, head: usize| {
        let number = |numbers: &et_core::Tensor<'_>| Ok(numbers.input::<T>()?.get(head * numbers.strides()[0]).raise());
        numbers.as_ref().map(number).transpose()
    };
    let (heads, sharing) = (query.size(2), query.size(2) / keys.size(2));
    for batch in 0..query.size(0) {
        for head in 0..heads {
            let mut starts = [head, head / sharing, head / sharing, head];
            for (start, strides) in starts.iter_mut().zip(&strides) {
                *start = *start * strides[2] + batch * strides[0];
            }
            let (slope, sink) = (number(&slopes, head)?, number(&sinks, head)?);
            let table = Distances::<T>::of(slopes.as_ref(), head)?;
            let added = slope.map(|slope| {
                let (table, span) = (table.as_ref(), &span);
                move |row: usize, key: usize| match table {
                    Some(table) => table.at((span.start + row.min(span.last)).saturating_sub(key)),
                    None => slope * T::Math::from_f64(key as f64),
                }
            });
            attention.head(starts, added.as_ref().map(|added| added as &Mask<'_, T::Math>), sink);
        }
    }
    Ok(())
}

/// What a head adds to scores, by the distance of row and key.
struct Distances<'a, T> {
    numbers: Input<'a, T>,
    start: usize,
    step: usize,
    count: usize,
}

impl<'a, T: Opmath> Distances<'a, T> {
    /// The numbers of a head; `None` where heads have slopes.
    fn of(slopes: Option<&et_core::Tensor<'a>>, head: usize) -> Result<Option<Self>> {
        let Some(table) = slopes.filter(|slopes| slopes.shape().sizes().len() == 2) else { return Ok(None) };
        let strides = table.strides();
        let (start, step) = (head * strides[0], strides[1]);
        Ok(Some(Self { numbers: table.input()?, start, step, count: table.size(1) }))
    }

    fn at(&self, distance: usize) -> T::Math {
        self.numbers.get(self.start + distance.min(self.count - 1) * self.step).raise()
    }
}

/// The keys of a KV cache.
struct Cached<M> {
    span: Span,
    slots: usize,
    /// The number of positions that a row sees.
    window: usize,
    soft_cap: M,
    /// Whether a row sees all rows up to the last.
    is_mutual: bool,
}

impl<M: Math> Cached<M> {
    fn new(args: &Args<'_, '_>, is_mutual: bool) -> Result<Self> {
        let (rows, slots) = (args.tensor(0)?.size(1), args.tensor(1)?.size(1));
        let (span, window) = (Span::read(args, [3, 4], rows)?, args.int(6)?);
        let window = if window == 0 { usize::MAX } else { window as usize };
        // The first row sees `window` positions up to its own; the later rows must not overwrite the slots of those
        // positions.
        if span.end() > slots && window.saturating_add(span.last) > slots {
            return Err(Error::InvalidArgument);
        }
        Ok(Self { span, slots, window, soft_cap: M::from_f64(args.double(7)?), is_mutual })
    }
}

impl<M: Math> Keys<M> for Cached<M> {
    fn seen(&self, row: usize, _all: usize) -> Range<usize> {
        let end = self.span.start + row.min(self.span.last) + 1;
        end.saturating_sub(self.window)..if self.is_mutual { self.span.end() } else { end }
    }

    fn slot(&self, key: usize) -> usize {
        key % self.slots
    }

    fn score(&self, product: M) -> M {
        if self.soft_cap > M::ZERO { (product / self.soft_cap).tanh() * self.soft_cap } else { product }
    }
}

/// Keys and values in int8; the scale of a row follows the numbers of the row.
struct Scaled<'a> {
    cached: Cached<f32>,
    keys: Scales<'a>,
    values: Scales<'a>,
}

impl Keys<f32> for Scaled<'_> {
    fn seen(&self, row: usize, all: usize) -> Range<usize> {
        self.cached.seen(row, all)
    }

    fn slot(&self, key: usize) -> usize {
        self.cached.slot(key)
    }

    fn score(&self, product: f32) -> f32 {
        self.cached.score(product)
    }

    fn key_scale(&self, start: usize) -> f32 {
        self.keys.of_row(start)
    }

    fn value_scale(&self, start: usize) -> f32 {
        self.values.of_row(start)
    }
}

/// The scales of int8 rows.
struct Scales<'a> {
    bytes: Input<'a, i8>,
    /// The number of int8 elements before the scale.
    numbers: usize,
    /// The stride between neighbouring bytes of a row.
    step: usize,
}

impl<'a> Scales<'a> {
    fn new(args: &Args<'a, '_>, index: usize) -> Result<Self> {
        let tensor = args.tensor(index)?;
        let numbers = tensor.size(3).saturating_sub(byte_row::SCALE);
        Ok(Self { bytes: tensor.input()?, numbers, step: tensor.strides()[3] })
    }

    fn of_row(&self, start: usize) -> f32 {
        byte_row::scale(self.bytes, start + self.numbers * self.step, self.step)
    }
}
