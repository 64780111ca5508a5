//! Images between their pixels.

use et_core::{Result, Tensor};

use crate::family::opmath::Opmath;
use crate::family::spatial::Volume;
use crate::math::Math;
use crate::resizing::grid_sampler_2d::{Border, Outside, Plane};

/// A batch of images whose pixels are read at fractional positions.
pub struct Pixels<'a, T> {
    elements: et_core::Input<'a, T>,
    image: Volume,
    border: Border,
}

impl<'a, T: Opmath> Pixels<'a, T>
where
    T::Math: Math,
{
    /// The images of a tensor of rank 4; `outside` says what lies around them.
    pub fn new(tensor: &Tensor<'a>, outside: Outside) -> Result<Self> {
        let border = Border { outside, corners: true };
        Ok(Self { elements: tensor.input()?, image: Volume::new(tensor, 2)?, border })
    }

    /// The number of rows and of columns.
    pub const fn extent(&self) -> [usize; 2] {
        let [_, rows, columns] = self.image.extent();
        [rows, columns]
    }

    /// The blend of the four pixels around a position.
    pub fn at(&self, [batch, channel]: [usize; 2], position: [T::Math; 2]) -> T::Math {
        let start = self.image.channel(batch, channel);
        Plane { from: self.elements, image: self.image, start, border: self.border }.linear(position)
    }
}
