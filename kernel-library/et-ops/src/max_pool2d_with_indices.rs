//! `aten::max_pool2d_with_indices`: the greatest element of each window, and where in its plane it is. NaN is greatest.

use crate::family::pool::{ABSENT, Pool};
use crate::family::spatial::{Image, Taps, pair_argument};
use crate::prelude::*;

/// `torch.nn.functional.max_pool2d` with indices.
pub const MAX_POOL2D_WITH_INDICES: Operator = Operator {
    schema: "aten::max_pool2d_with_indices.out(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, \
             int[2] dilation=1, bool ceil_mode=False, *, Tensor(a!) out, Tensor(b!) indices) \
             -> (Tensor(a!), Tensor(b!))",
    functional: "aten::max_pool2d_with_indices",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "stride as the kernel",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 4], &[1.0, 5.0, 3.0, 4.0, 5.0, 2.0, 8.0, 7.0])),
                Ints(&[2, 2]),
                Ints(&[]),
                Ints(&[0, 0]),
                Ints(&[1, 1]),
                Bool(false),
            ],
            &[CaseTensor::float(&[1, 1, 1, 2], &[5.0, 8.0]), CaseTensor::long(&[1, 1, 1, 2], &[1.0, 6.0])],
        ),
        Case::exact(
            "padding, dilation and ceiling without a batch",
            &[
                Tensor(CaseTensor::float(&[1, 3, 3], &[-1.0, -2.0, -3.0, -4.0, f64::NAN, -6.0, -7.0, -8.0, -9.0])),
                Ints(&[2]),
                Ints(&[2]),
                Ints(&[1]),
                Ints(&[2]),
                Bool(true),
            ],
            &[
                CaseTensor::float(&[1, 2, 2], &[f64::NAN, f64::NAN, f64::NAN, f64::NAN]),
                CaseTensor::long(&[1, 2, 2], &[4.0, 4.0, 4.0, 4.0]),
            ],
        ),
        Case::exact(
            "integers",
            &[
                Tensor(CaseTensor::long(&[1, 1, 3], &[3.0, 1.0, 2.0])),
                Ints(&[1, 2]),
                Ints(&[1, 1]),
                Ints(&[0, 0]),
                Ints(&[1, 1]),
                Bool(false),
            ],
            &[CaseTensor::long(&[1, 1, 2], &[3.0, 2.0]), CaseTensor::long(&[1, 1, 2], &[0.0, 2.0])],
        ),
        Case::refused(
            "more padding than half the kernel",
            &[
                Tensor(CaseTensor::float(&[1, 2, 2], &[1.0; 4])),
                Ints(&[2, 2]),
                Ints(&[]),
                Ints(&[2, 2]),
                Ints(&[1, 1]),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn pool(args: &Args<'_, '_>) -> Result<Pool> {
    Pool::new(args, pair_argument(args, 4)?, args.bool(5)?)
}

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let values = pool(args)?.meta(args)?;
    Ok(if index == 0 { values } else { Meta { scalar_type: ScalarType::Long, ..values } })
}

/// The portable kernel for inputs of the types in `D`; indices are `int64` whatever `D` says.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, pool) = (args.tensor(0)?, pool(args)?);
    let shape = pool.meta(args)?.shape;
    args.tensor(6)?.resize(&shape)?;
    args.tensor(7)?.resize(&shape)?;
    dispatch!(D, input.scalar_type(), numbers, T => maxima::<T>(&pool, args))
}

fn maxima<T: Number>(pool: &Pool, args: &Args<'_, '_>) -> Result<()> {
    let [input, out, indices] = [args.tensor(0)?, args.tensor(6)?, args.tensor(7)?];
    let (from, to, places) = (input.input::<T>()?, out.output::<T>()?, indices.output::<i64>()?);
    let image = Image::new(&input, ABSENT)?;
    let [out_image, index_image] = [Image::new(&out, ABSENT)?, Image::new(&indices, ABSENT)?];
    out_image.for_each_pixel(|pixel @ [batch, channel, row, column]| {
        let window = [pool.axes[0].taps(row), pool.axes[1].taps(column)];
        let steps = pool.axes.map(|axis| axis.dilation.get());
        let plane = image.plane(batch, channel);
        let (value, index) = greatest(&image, window, steps, |offset| from.get(plane + offset));
        to.set(out_image.offset(pixel), value);
        places.set(index_image.offset(pixel), index as i64);
    });
    Ok(())
}

/// The greatest element of a window, the first of equals, and its row-major index in the plane.
fn greatest<T: Number>(
    image: &Image,
    [rows, columns]: [Taps; 2],
    [row_step, column_step]: [usize; 2],
    load: impl Fn(usize) -> T,
) -> (T, usize) {
    let width = image.sizes[3];
    let mut best = (T::LOWEST, rows.start * width + columns.start);
    for row in (0..rows.count).map(|tap| rows.start + tap * row_step) {
        for column in (0..columns.count).map(|tap| columns.start + tap * column_step) {
            let element = load(image.pixel(row, column));
            if element > best.0 || element.is_nan() {
                best = (element, row * width + column);
            }
        }
    }
    best
}
