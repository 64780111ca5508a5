//! Windows over images in the form that TOSA wants: the padding behind an image makes the count of results whole.

use etbuild_backend::int8::pattern::no;
use etbuild_backend::{Geometry, Refusal, RefusalKind};

use super::Lowering;
use crate::tosa::TensorId;
use crate::tosa::operation::Slice;

/// The padding of an image, and the part of the image that a window reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Top, bottom, left, right.
    pub pad: [i32; 4],
    /// The rows and columns that the window reads.
    pub read: [usize; 2],
}

impl Fit {
    /// The fit of a window to images and results of these heights and widths.
    ///
    /// # Errors
    /// A window of size or stride 0, or sizes beyond int32.
    pub fn of(geometry: &Geometry, image: [usize; 2], results: [usize; 2]) -> Result<Self, Refusal> {
        let mut fit = Self { pad: [0; 4], read: image };
        for axis in 0..2 {
            let Geometry { kernel, stride, padding, dilation } = geometry;
            if [kernel, stride, dilation].iter().any(|sizes| sizes[axis] == 0) || results[axis] == 0 {
                return Err(no(RefusalKind::Argument, "a kernel, stride or dilation is 0"));
            }
            let number = |number: u32| i64::from(number);
            let span = (results[axis] as i64 - 1) * number(stride[axis])
                + (number(kernel[axis]) - 1) * number(dilation[axis])
                + 1;
            let behind = span - image[axis] as i64 - number(padding[axis]);
            let fits = |number: i64| i32::try_from(number).map_err(|_| no(RefusalKind::Shape, "an image is too large"));
            fit.pad[2 * axis] = fits(number(padding[axis]))?;
            fit.pad[2 * axis + 1] = fits(behind.max(0))?;
            fit.read[axis] = usize::try_from(image[axis] as i64 + behind.min(0)).unwrap_or(0);
        }
        Ok(fit)
    }
}

/// Both numbers, in the type of attributes.
pub fn pair(numbers: [u32; 2]) -> [i32; 2] {
    numbers.map(|number| i32::try_from(number).unwrap_or(i32::MAX))
}

impl Lowering<'_> {
    /// The part of an image that a window reads.
    pub fn read(&mut self, image: TensorId, read: [usize; 2], name: &str) -> TensorId {
        let sizes = self.sizes_of(image);
        let [batch, height, width, channels] = sizes[..] else { return image };
        if [height, width] == read {
            return image;
        }
        let sizes = [batch, read[0], read[1], channels];
        self.sliced(image, [&[0; 4], &sizes], &format!("{name}.read"))
    }

    /// A part of a tensor: start and sizes.
    pub fn sliced(&mut self, tensor: TensorId, [start, sizes]: [&[usize]; 2], name: &str) -> TensorId {
        let kind = self.graph.get(tensor).kind;
        let inputs = [tensor, self.shape(&format!("{name}.start"), start), self.shape(&format!("{name}.size"), sizes)];
        self.emit(Slice, &inputs, (name, kind, sizes))
    }
}
