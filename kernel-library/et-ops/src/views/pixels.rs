//! Images whose blocks of pixels are channels in another form.

use et_core::{Args, Error, MAX_RANK, Result, Shape, Tensor};

use crate::family::place::Place;

/// The layout of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As channels: `[.., channels * factor * factor, rows, columns]`.
    Channels,
    /// As pixels: `[.., channels, rows * factor, columns * factor]`.
    Spread,
}

/// An image in both forms.
pub struct Pixels {
    /// All elements: `[.., channels, factor, factor, rows, columns]`.
    pub blocks: Shape,
    /// The shape of [`Form::Channels`].
    pub channels: Shape,
    /// The shape of [`Form::Spread`].
    pub spread: Shape,
    outer: usize,
}

impl Pixels {
    /// The first argument, which has this form, with the factor in the second.
    pub fn new(args: &Args<'_, '_>, form: Form) -> Result<Self> {
        let factor = i32::try_from(args.int(1)?).ok().filter(|factor| *factor > 0).ok_or(Error::InvalidArgument)?;
        let shape = args.tensor(0)?.shape();
        let [outer @ .., channels, rows, columns] = shape.sizes() else { return Err(Error::InvalidArgument) };
        let divided = |size: i32, by: i32| if size % by == 0 { Ok(size / by) } else { Err(Error::InvalidArgument) };
        let [channels, rows, columns] = match form {
            Form::Channels => [divided(divided(*channels, factor)?, factor)?, *rows, *columns],
            Form::Spread => [*channels, divided(*rows, factor)?, divided(*columns, factor)?],
        };
        let shape = |inner: &[i32]| {
            let mut shape = Shape::new(outer)?;
            inner.iter().try_for_each(|size| shape.push(*size)).map(|()| shape)
        };
        let times = |size: i32| size.checked_mul(factor).ok_or(Error::InvalidArgument);
        Ok(Self {
            blocks: shape(&[channels, factor, factor, rows, columns])?,
            channels: shape(&[times(times(channels)?)?, rows, columns])?,
            spread: shape(&[channels, times(rows)?, times(columns)?])?,
            outer: outer.len(),
        })
    }

    /// The place of the blocks in a tensor of [`Form::Channels`].
    pub fn place_of_channels(&self, tensor: &Tensor<'_>) -> Place {
        self.place(tensor, |factor, [channel, row, column]| {
            [channel * factor * factor, channel * factor, channel, row, column]
        })
    }

    /// The place of the blocks in a tensor of [`Form::Spread`].
    pub fn place_of_spread(&self, tensor: &Tensor<'_>) -> Place {
        self.place(tensor, |factor, [channel, row, column]| [channel, row, column, row * factor, column * factor])
    }

    /// Derives the strides of the blocks from the strides of channels, rows and columns.
    fn place(&self, tensor: &Tensor<'_>, inner: fn(usize, [usize; 3]) -> [usize; 5]) -> Place {
        let (own, outer, mut strides) = (tensor.strides(), self.outer, [0; MAX_RANK]);
        let factor = self.blocks.size(outer + 1);
        strides[..outer].copy_from_slice(&own[..outer]);
        strides[outer..outer + 5].copy_from_slice(&inner(factor, [own[outer], own[outer + 1], own[outer + 2]]));
        Place { start: 0, strides }
    }
}
