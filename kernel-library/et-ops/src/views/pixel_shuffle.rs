//! `aten::pixel_shuffle`: channels spread over blocks of pixels.

use crate::family::transfer;
use crate::prelude::*;
use crate::views::pixels::{Form, Pixels};

/// `torch.nn.functional.pixel_shuffle`.
#[cfg(feature = "catalogue")]
pub const PIXEL_SHUFFLE: Operator = Operator {
    schema: "aten::pixel_shuffle.out(Tensor self, int upscale_factor, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::pixel_shuffle",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "blocks of two by two",
            &[
                Tensor(CaseTensor::float(
                    &[1, 4, 2, 2],
                    &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0],
                )),
                Int(2),
            ],
            &[CaseTensor::float(
                &[1, 1, 4, 4],
                &[0.0, 4.0, 1.0, 5.0, 8.0, 12.0, 9.0, 13.0, 2.0, 6.0, 3.0, 7.0, 10.0, 14.0, 11.0, 15.0],
            )],
        ),
        Case::exact(
            "several channels without a batch",
            &[
                Tensor(CaseTensor::long(
                    &[18, 1, 1],
                    &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0],
                )),
                Int(3),
            ],
            &[CaseTensor::long(
                &[2, 3, 3],
                &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0],
            )],
        ),
        Case::exact(
            "blocks of one",
            &[Tensor(CaseTensor::long(&[1, 1, 2], &[1.0, 2.0])), Int(1)],
            &[CaseTensor::long(&[1, 1, 2], &[1.0, 2.0])],
        ),
        Case::refused(
            "channels that are no blocks",
            &[Tensor(CaseTensor::float(&[1, 1, 1], &[1.0])), Int(2)],
            Error::InvalidArgument,
        ),
        Case::refused(
            "a factor of 0",
            &[Tensor(CaseTensor::float(&[1, 1, 1], &[1.0])), Int(0)],
            Error::InvalidArgument,
        ),
        Case::refused("a matrix", &[Tensor(CaseTensor::float(&[1, 1], &[1.0])), Int(1)], Error::InvalidArgument),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    transfer::reshaped(args, Pixels::new(args, Form::Channels)?.spread)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, pixels) = (args.tensor(0)?, args.tensor(2)?, Pixels::new(args, Form::Channels)?);
    out.resize(&pixels.spread)?;
    let [channels, spread] = [pixels.place_of_channels(&input), pixels.place_of_spread(&out)];
    transfer::region::<D>(&pixels.blocks, (&input, channels), (&out, spread))
}
