//! Pictures to tensors.

mod aligned;
mod crop;
mod filling;
mod filter;
mod normalize;
mod picture;
mod resize;
mod tiles;
mod within;

use et_module::preprocess::{ImageSteps, Resize};
use et_module::{Array, TensorType};

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

/// Height and width after resizing. The longer side of a [`Resize::Shorter`] is rounded down, as by torchvision.
///
/// # Errors
/// A shape that the resizing refuses.
fn target([height, width]: [usize; 2], resize: Resize) -> Result<[usize; 2], String> {
    let side = match resize {
        Resize::Exact(size) => return Ok(size),
        Resize::Within { factor, least, most } => return within::size([height, width], factor, [least, most]),
        Resize::Aligned { factor, longest, most } => {
            return Ok(aligned::size([height, width], factor, [longest, most]));
        }
        Resize::Filling { factor, most } => return filling::size([height, width], factor, most),
        Resize::Shorter(side) => side,
    };
    let longer = |long: usize, short: usize| (side.saturating_mul(long) / short).max(1);
    Ok(if width <= height { [longer(height, width), side] } else { [side, longer(width, height)] })
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
