//! `etbuild::log_mel`: logarithms of the energies of mel bands of sound, and their cosine transform, in fixed point.

use et_signal::{Band, Framing, LogMel, Output, is_supported, turns};

use super::memory::{Elements, cells};
use crate::prelude::*;

/// Log-mel features of int16 samples, along the last dimension, `float32 [frames, bands]`, or with `cosines`, int16 `[rows * bands]`,
/// mel-frequency cepstral coefficients, `[frames, rows]`. `window`, int32 `[win_length]`, has 31 fractional bits; `turns`, int32, are the
/// cosines and sines of the twiddle factors with 31 fractional bits, in the order of [`et_signal::LogMel::turns`]. Five numbers of `bands`,
/// int32 `[5 * bands]`, are the first bin, the number of bins, the index of the first of `weights` (int16, 15 fractional bits), `log2` of the
/// factor of the energy with 16 fractional bits, and the bits of the `float32` that is added to the energy before the factor (`adds_floor`)
/// or is its least value. Energies are sums of powers, or of magnitudes. Logarithms have base 2, and are multiplied by `unit`, with 28
/// fractional bits, or by the cosines, with `cosine_bits`. None is further below the greatest than a positive `range`, with 16 fractional
/// bits. The second result is memory for steps between, and 0 afterwards.
#[cfg(feature = "catalogue")]
pub const LOG_MEL: Operator = Operator {
    schema: "etbuild::log_mel.out(Tensor samples, Tensor window, Tensor turns, Tensor bands, Tensor weights, Tensor? cosines, int n_fft, int hop, \
             bool center, bool magnitude, bool adds_floor, int unit, int range, int cosine_bits, *, Tensor(a!) out, Tensor(b!) work) \
             -> (Tensor(a!), Tensor(b!))",
    functional: "etbuild::log_mel",
    path: kernel_path!(out),
    dtypes: Dtypes::of(&[ScalarType::Short, ScalarType::Int, ScalarType::Float]),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "natural logarithms of powers, with an addend",
            2e-4,
            &arguments(8, None, [2, 0, 0, 1, 186_065_279, 0, 0]),
            &[
                CaseTensor::float(
                    &[3, 2],
                    &[-3.02768135, -2.75941229, -1.74204612, -0.61561728, -6.87815189, -5.95933962],
                ),
                CaseTensor::of(ScalarType::Int, &[8], &[0.0; 8]),
            ],
        ),
        Case::near(
            "cosines of magnitudes within a range, with mirrored samples",
            2e-4,
            &arguments(8, Some(CaseTensor::of(ScalarType::Short, &[6], &COSINES)), [4, 1, 1, 0, 1 << 28, 1 << 17, 14]),
            &[
                CaseTensor::float(
                    &[3, 3],
                    &[
                        -3.32581902,
                        0.0,
                        -1.66290951,
                        -0.65742749,
                        -0.66580427,
                        0.33709049,
                        -3.32581902,
                        0.0,
                        -1.66290951,
                    ],
                ),
                CaseTensor::of(ScalarType::Int, &[12], &[0.0; 12]),
            ],
        ),
        Case::refused(
            "a recording that is too short",
            &arguments(3, None, [2, 0, 0, 1, 1, 0, 0]),
            Error::InvalidArgument,
        ),
        Case::refused("frames without a step", &arguments(8, None, [0, 0, 0, 1, 1, 0, 0]), Error::InvalidArgument),
    ],
};

#[cfg(feature = "catalogue")]
const COSINES: [f64; 6] = [16384.0, 16384.0, 8192.0, -8192.0, 0.0, 16384.0];

/// Arguments for frames of 4 samples and two bands: the first samples of a recording, the cosines, and the numbers behind.
#[cfg(feature = "catalogue")]
const fn arguments(samples: usize, cosines: Option<CaseTensor>, numbers: [i64; 7]) -> [CaseArgument; 14] {
    const SAMPLES: &[f64] = &[1000.0, -2000.0, 3000.0, 8000.0, -12000.0, 500.0, 700.0, -900.0];
    const SHORT: ScalarType = ScalarType::Short;
    const INT: ScalarType = ScalarType::Int;
    // The bits of 1e-6 as `float32`.
    const FLOOR: f64 = 897_988_541.0;
    const ONE: f64 = i32::MAX as f64;
    const HALF: f64 = (1 << 30) as f64;
    let [hop, center, magnitude, adds_floor, unit, range, cosine_bits] = numbers;
    [
        Tensor(CaseTensor::of(SHORT, if samples == 8 { &[8] } else { &[3] }, SAMPLES.split_at(samples).0)),
        Tensor(CaseTensor::of(INT, &[4], &[0.0, HALF, ONE, HALF])),
        Tensor(CaseTensor::of(INT, &[4], &[ONE, 0.0, 0.0, ONE])),
        Tensor(CaseTensor::of(INT, &[10], &[0.0, 2.0, 0.0, 0.0, FLOOR, 1.0, 2.0, 1.0, 65536.0, FLOOR])),
        Tensor(CaseTensor::of(SHORT, &[3], &[16384.0, 32767.0, 16384.0])),
        match cosines {
            Some(cosines) => Tensor(cosines),
            None => CaseArgument::None,
        },
        Int(4),
        Int(hop),
        Bool(center != 0),
        Bool(magnitude != 0),
        Bool(adds_floor != 0),
        Int(unit),
        Int(range),
        Int(cosine_bits),
    ]
}

/// The sizes of a call.
struct Sizes {
    framing: Framing,
    bands: usize,
    columns: usize,
    words: usize,
}

impl Sizes {
    fn of(args: &Args<'_, '_>) -> Result<Self> {
        let positive = |number: i64| usize::try_from(number).ok().filter(|number| *number > 0);
        let length = |position, scalar_type| {
            let tensor = args.tensor(position)?;
            let is_list = tensor.shape().sizes().last().is_some_and(|last| *last as usize == tensor.numel());
            let is_list = is_list && tensor.scalar_type() == scalar_type;
            if is_list { Ok(tensor.numel()) } else { Err(Error::InvalidArgument) }
        };
        let (samples, window) = (length(0, ScalarType::Short)?, length(1, ScalarType::Int)?);
        let (factors, numbers) = (length(2, ScalarType::Int)?, length(3, ScalarType::Int)?);
        length(4, ScalarType::Short)?;
        let cosines = args.optional_tensor(5)?.map(|_| length(5, ScalarType::Short)).transpose()?;
        let bands = numbers / Band::NUMBERS;
        let length = positive(args.int(6)?).ok_or(Error::InvalidArgument)?;
        let hop = positive(args.int(7)?).ok_or(Error::InvalidArgument)?;
        let framing = Framing { samples, length, window, hop, is_centered: args.bool(8)? };
        let is_whole = |count: usize, of: usize| of > 0 && count.is_multiple_of(of);
        let is_sized =
            is_whole(numbers, Band::NUMBERS) && cosines.is_none_or(|count| count > 0 && is_whole(count, bands));
        let is_framed = is_supported(length)
            && factors == 2 * turns(length)
            && (1..=length).contains(&window)
            && framing.frames() > 0;
        if !(is_sized && is_framed && bands > 0) {
            return Err(Error::InvalidArgument);
        }
        let columns = cosines.map_or(bands, |count| count / bands);
        Ok(Self { framing, bands, columns, words: framing.words(bands, args.int(12)? > 0) })
    }
}

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let Sizes { framing, columns, words, .. } = Sizes::of(args)?;
    let size = |size: usize| i32::try_from(size).map_err(|_| Error::InvalidArgument);
    Ok(if index == 0 {
        Meta { scalar_type: ScalarType::Float, shape: Shape::new(&[size(framing.frames())?, size(columns)?])? }
    } else {
        Meta { scalar_type: ScalarType::Int, shape: Shape::new(&[size(words)?])? }
    })
}

/// The portable kernel; the types are the operator's.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (out, work) = (args.tensor(14)?, args.tensor(15)?);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    work.settle(|| Ok(infer(args, 1)?.shape))?;
    let Sizes { framing, bands, columns, .. } = Sizes::of(args)?;
    let small = |position: usize| Ok::<_, Error>(i32::try_from(args.int(position)?).unwrap_or(i32::MAX));
    let cosines = args.optional_tensor(5)?;
    let weights = Elements::of(&args.tensor(4)?)?;
    let features = LogMel {
        framing,
        output: Output {
            is_magnitude: args.bool(9)?,
            adds_floor: args.bool(10)?,
            unit: small(11)?,
            range: small(12)?,
            cosine_bits: small(13)?.clamp(0, 63) as u32,
        },
        window: Elements::of(&args.tensor(1)?)?,
        turns: Elements::of(&args.tensor(2)?)?,
        bands: Elements::of(&args.tensor(3)?)?,
        band_count: bands,
        weights,
        cosines: cosines.as_ref().map_or(Ok(weights), Elements::of)?,
        cosine_rows: if cosines.is_some() { columns } else { 0 },
    };
    let (samples, to, steps) = (Elements::of(&args.tensor(0)?)?, out.output::<f32>()?, out.strides());
    let memory = cells::<i32>(&work)?;
    features.compute(samples, memory, |frame, column, feature| {
        to.set(frame * steps[0] + column * steps[1], feature as f32 / 65536.0);
    });
    memory.iter().for_each(|word| word.set(0));
    Ok(())
}
