//! Pictures to tensors.

mod crop;
mod filter;
mod normalize;
mod picture;
mod resize;
mod tiles;

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
    let picture = match steps.resize.map(|resize| target(&picture, resize)) {
        Some([height, width]) => resize::resize(&picture, height, width, steps.filter)?,
        None => picture,
    };
    match steps.crop {
        Some([height, width]) => crop::center(&picture, height, width),
        None => Ok(picture),
    }
}

/// Height and width after resizing, as torchvision rounds: down.
fn target(picture: &Picture, resize: Resize) -> [usize; 2] {
    let side = match resize {
        Resize::Exact(size) => return size,
        Resize::Shorter(side) => side,
    };
    let (height, width) = (picture.height(), picture.width());
    let longer = |long: usize, short: usize| (side.saturating_mul(long) / short).max(1);
    if width <= height { [longer(height, width), side] } else { [side, longer(width, height)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_side_gets_the_size() {
        let picture = |width, height| Picture::of_rgb(width, height, &vec![[0; 3]; width * height]).unwrap();
        assert_eq!(target(&picture(40, 30), Resize::Shorter(20)), [20, 26]);
        assert_eq!(target(&picture(30, 40), Resize::Shorter(20)), [26, 20]);
        assert_eq!(target(&picture(30, 40), Resize::Exact([7, 9])), [7, 9]);
        assert_eq!(target(&picture(5, 5), Resize::Shorter(2)), [2, 2]);
    }
}
