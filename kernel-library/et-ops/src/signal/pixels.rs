//! `etbuild::pixels`: the picture of a camera as the input of a model, resized in fixed point.

use et_core::Element;
use et_signal::{Axis, PixelFormat, Pixels, work_bytes};

use super::memory::{Elements, cells};
use crate::prelude::*;

/// A picture of a camera, `uint8 [height * width * bytes]` for the three numbers of `size`, resized and looked up: `[channels, rows,
/// columns]`, or with `channels_last` `[rows, columns, channels]`, of the type of `values`, `[256 * channels]` or, for all channels, `[256]`.
/// `format` is the index of the format of pixels in [`PixelFormat::ALL`]. `rows`, int32 `[3 * rows]`, has the first input row, the number of
/// input rows and the index of the first weight of each row, and `columns` the same of each column; weights are int32 with 22 fractional
/// bits, of the values of Pillow's filters. `kept` is the most input rows of a row. The second result is memory for steps between, and 0
/// afterwards.
#[cfg(feature = "catalogue")]
pub const PIXELS: Operator = Operator {
    schema: "etbuild::pixels.out(Tensor frame, int[] size, Tensor rows, Tensor row_weights, Tensor columns, Tensor column_weights, Tensor values, \
             int format, bool columns_first, int kept, bool channels_last, *, Tensor(a!) out, Tensor(b!) work) -> (Tensor(a!), Tensor(b!))",
    functional: "etbuild::pixels",
    path: kernel_path!(out),
    dtypes: Dtypes::of(&[ScalarType::Byte, ScalarType::Int, ScalarType::Char, ScalarType::Short, ScalarType::Float]),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rows and columns of pairs, in this order, with channels first",
            &arguments(2, [0, 0, 2, 0]),
            &[
                CaseTensor::of(ScalarType::Char, &[2, 1, 1], &[-108.0, -98.0]),
                CaseTensor::of(ScalarType::Byte, &[8], &[0.0; 8]),
            ],
        ),
        Case::exact(
            "columns first, luma of 5, 6 and 5 bits",
            &arguments(2, [5, 1, 2, 1]),
            &[
                CaseTensor::of(ScalarType::Char, &[1, 1, 1], &[-70.0]),
                CaseTensor::of(ScalarType::Byte, &[2], &[0.0; 2]),
            ],
        ),
        Case::refused("a format of three bytes", &arguments(2, [2, 0, 2, 0]), Error::InvalidArgument),
        Case::refused("values of other channels", &arguments(3, [0, 0, 2, 0]), Error::InvalidArgument),
    ],
};

/// Arguments for a picture of two rows and columns that becomes a pixel, for so many channels of values.
#[cfg(feature = "catalogue")]
const fn arguments(channels: usize, numbers: [i64; 4]) -> [CaseArgument; 11] {
    const INT: ScalarType = ScalarType::Int;
    const HALVES: CaseTensor = CaseTensor::of(INT, &[2], &[2_097_152.0; 2]);
    const BOTH: CaseTensor = CaseTensor::of(INT, &[3], &[0.0, 2.0, 0.0]);
    let [format, columns_first, kept, channels_last] = numbers;
    [
        Tensor(CaseTensor::of(ScalarType::Byte, &[8], &[10.0, 20.0, 30.0, 40.0, 0.0, 10.0, 40.0, 50.0])),
        Ints(&[2, 2, 2]),
        Tensor(BOTH),
        Tensor(HALVES),
        Tensor(BOTH),
        Tensor(HALVES),
        Tensor(CaseTensor::of(ScalarType::Char, if channels == 2 { &[256] } else { &[768] }, {
            if channels == 2 { &SHIFTED } else { &[0.0; 768] }
        })),
        Int(format),
        Bool(columns_first != 0),
        Int(kept),
        Bool(channels_last != 0),
    ]
}

/// The values less 128.
#[cfg(feature = "catalogue")]
const SHIFTED: [f64; 256] = {
    let (mut values, mut value) = ([0.0; 256], 0);
    while value < 256 {
        values[value] = value as f64 - 128.0;
        value += 1;
    }
    values
};

/// The most channels of a picture.
const MOST_CHANNELS: usize = 16;

/// The numbers of a call, checked.
struct Call {
    size: [usize; 2],
    bytes: usize,
    format: PixelFormat,
    channels: usize,
    rows: usize,
    columns: usize,
    is_columns_first: bool,
    kept: usize,
}

impl Call {
    fn of(args: &Args<'_, '_>) -> Result<Self> {
        let (sizes, invalid) = (args.ints(1)?, Error::InvalidArgument);
        let &[height, width, bytes] = &*sizes else { return Err(invalid) };
        let size = |number: i64| usize::try_from(number).map_err(|_| invalid);
        let (size, bytes) = ([size(height)?, size(width)?], size(bytes)?);
        let length = |position: usize, scalar_type: ScalarType| {
            let tensor = args.tensor(position)?;
            let is_list = tensor.rank() == 1 && tensor.scalar_type() == scalar_type;
            if is_list { Ok(tensor.numel()) } else { Err(invalid) }
        };
        let places = |position| length(position, ScalarType::Int).map(|count| (count / 3, count % 3 == 0));
        let ([(rows, has_rows), (columns, has_columns)], values) = ([places(2)?, places(4)?], args.tensor(6)?);
        [3, 5].into_iter().try_for_each(|position| length(position, ScalarType::Int).map(|_| ()))?;
        let format = usize::try_from(args.int(7)?).ok().and_then(|format| PixelFormat::ALL.get(format).copied());
        let format = format.ok_or(invalid)?;
        let channels =
            format.channels(bytes).filter(|channels| (1..=MOST_CHANNELS).contains(channels)).ok_or(invalid)?;
        let is_looked_up = [256, 256 * channels].contains(&length(6, values.scalar_type())?);
        let kept = usize::try_from(args.int(9)?).map_err(|_| invalid)?;
        let pixels = size[0].checked_mul(size[1]).and_then(|pixels| pixels.checked_mul(bytes));
        let is_whole = pixels == Some(length(0, ScalarType::Byte)?);
        if !(has_rows && has_columns && is_looked_up && is_whole && kept > 0) {
            return Err(invalid);
        }
        Ok(Self { size, bytes, format, channels, rows, columns, is_columns_first: args.bool(8)?, kept })
    }

    fn work(&self) -> Result<usize> {
        let ring = (!self.is_columns_first).then_some([self.kept, self.columns]);
        work_bytes(self.size[1], self.channels, ring).ok_or(Error::InvalidArgument)
    }
}

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let call = Call::of(args)?;
    let size = |size: usize| i32::try_from(size).map_err(|_| Error::InvalidArgument);
    if index > 0 {
        return Ok(Meta { scalar_type: ScalarType::Byte, shape: Shape::new(&[size(call.work()?)?])? });
    }
    let [channels, rows, columns] = [size(call.channels)?, size(call.rows)?, size(call.columns)?];
    let shape = if args.bool(10)? { [rows, columns, channels] } else { [channels, rows, columns] };
    Ok(Meta { scalar_type: args.tensor(6)?.scalar_type(), shape: Shape::new(&shape)? })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (out, work) = (args.tensor(11)?, args.tensor(12)?);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    work.settle(|| Ok(infer(args, 1)?.shape))?;
    dispatch!(@ D, out.scalar_type(), T, look_up::<T>(args), Char: i8, Short: i16, Float: f32)
}

fn look_up<T: Element>(args: &Args<'_, '_>) -> Result<()> {
    let (call, values, out) = (Call::of(args)?, args.tensor(6)?, args.tensor(11)?);
    let (values, to, steps) = (values.input::<T>()?, out.output::<T>()?, out.strides());
    // The strides of a channel, a row and a column.
    let steps = if args.bool(10)? { [steps[2], steps[0], steps[1]] } else { [steps[0], steps[1], steps[2]] };
    let axis = |position: usize, count| {
        let places = Elements::of(&args.tensor(position)?)?;
        Ok::<_, Error>(Axis { places, count, weights: Elements::of(&args.tensor(position + 1)?)? })
    };
    let Call { size, bytes, format, channels, is_columns_first, kept, .. } = call;
    let (rows, columns) = (axis(2, call.rows)?, axis(4, call.columns)?);
    let pixels = Pixels { size, bytes, format, channels, rows, columns, is_columns_first, kept };
    let (frame, work) = (Elements::of(&args.tensor(0)?)?, args.tensor(12)?);
    let (work, plane) = (cells(&work)?, if values.len() > 256 { 256 } else { 0 });
    pixels.compute(frame, work, |row, column, channel, value| {
        let at = channel * steps[0] + row * steps[1] + column * steps[2];
        to.set(at, values.get(plane * channel + usize::from(value)));
    });
    work.iter().for_each(|byte| byte.set(0));
    Ok(())
}
