//! Pictures to tensors.

mod aligned;
mod crop;
mod filling;
mod normalize;
mod picture;
mod resize;
mod tiles;
mod within;

use et_module::preprocess::{ImageSteps, Resize};
use et_module::{Array, TensorType};
use et_signal::tables::shorter;

pub use picture::Picture;
pub use tiles::tiles;

/// The tensor of a picture by `steps`, for an input of type `wanted`.
///
/// # Errors
/// A picture whose size after the steps does not fit, or an input of a type that no picture becomes.
pub fn tensor(picture: Picture, steps: &ImageSteps, wanted: &TensorType) -> Result<Array, String> {
    normalize::tensor(&sized(picture, steps)?, steps, wanted)
}

/// The picture in the color and the size of `steps`.
fn sized(picture: Picture, steps: &ImageSteps) -> Result<Picture, String> {
    let picture = picture.in_color(steps.color);
    let size = [picture.height(), picture.width()];
    let picture = match steps.resize.map(|resize| target(size, resize)).transpose()? {
        Some([height, width]) => resize::resize(&picture, height, width, steps.filter)?,
        None => picture,
    };
    match steps.crop {
        Some([height, width]) => crop::center(&picture, height, width),
        None => Ok(picture),
    }
}

/// Height and width after resizing.
///
/// # Errors
/// A shape that the resizing refuses.
fn target(size: [usize; 2], resize: Resize) -> Result<[usize; 2], String> {
    match resize {
        Resize::Exact(size) => Ok(size),
        Resize::Within { factor, least, most } => within::size(size, factor, [least, most]),
        Resize::Aligned { factor, longest, most } => Ok(aligned::size(size, factor, [longest, most])),
        Resize::Filling { factor, most } => filling::size(size, factor, most),
        Resize::Shorter(side) => Ok(shorter(size, side)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_side_gets_the_size() {
        assert_eq!(target([30, 40], Resize::Shorter(20)), Ok([20, 26]));
        assert_eq!(target([40, 30], Resize::Shorter(20)), Ok([26, 20]));
        assert_eq!(target([40, 30], Resize::Exact([7, 9])), Ok([7, 9]));
        assert_eq!(target([5, 5], Resize::Shorter(2)), Ok([2, 2]));
    }
}
