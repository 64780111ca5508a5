//! 8-bit values to the elements of an input.

use et_core::ScalarType;
use et_module::preprocess::{ImageSteps, Layout};
use et_module::{Array, TensorType};

use super::Picture;
use crate::numbers::bytes_of;
use crate::wanted::{shape_for, text};

/// The tensor of a picture. An input of `uint8` takes the values as they are.
///
/// # Errors
/// A size or a number of channels that the input does not take, or another type than floating point and `uint8`.
pub fn tensor(picture: &Picture, steps: &ImageSteps, wanted: &TensorType) -> Result<Array, String> {
    let shape = shape(picture, steps.layout, wanted).ok_or_else(|| misfit(picture, steps.layout, wanted))?;
    let bytes = if wanted.scalar_type == ScalarType::Byte {
        steps.layout.ordered(picture.bytes(), picture.channels())
    } else {
        let numbers = steps.numbers(picture.bytes(), picture.channels());
        let numbers = steps.layout.ordered(&numbers, picture.channels());
        bytes_of(wanted.scalar_type, &numbers).ok_or_else(|| {
            format!("a picture becomes floating-point numbers or uint8, and the input is {}", text(wanted))
        })?
    };
    Ok(Array { scalar_type: wanted.scalar_type, shape, bytes })
}

/// The shape with channels and, for one channel, the shape without where the input has no dimension for it.
fn shape(picture: &Picture, layout: Layout, wanted: &TensorType) -> Option<Vec<usize>> {
    let (height, width, channels) = (picture.height(), picture.width(), picture.channels());
    let with_channels = match layout {
        Layout::Nchw => [channels, height, width],
        Layout::Nhwc => [height, width, channels],
    };
    let without = || shape_for(wanted, &[height, width]).filter(|shape| channels == 1 && shape.len() == 2);
    shape_for(wanted, &with_channels).or_else(without)
}

fn misfit(picture: &Picture, layout: Layout, wanted: &TensorType) -> String {
    let (height, width, channels) = (picture.height(), picture.width(), picture.channels());
    let name = if channels == 1 { "channel" } else { "channels" };
    format!(
        "{height}x{width} pixels of {channels} {name} in layout {} do not fit the input {}",
        layout.name(),
        text(wanted)
    )
}

#[cfg(test)]
mod tests {
    use et_module::preprocess::{Color, Filter, Scale};

    use super::*;

    fn steps(layout: Layout) -> ImageSteps {
        ImageSteps {
            color: Color::Rgb,
            resize: None,
            filter: Filter::Bilinear,
            crop: None,
            scale: Scale { numerator: 1.0, denominator: 255.0 },
            mean: vec![0.5, 0.25, 0.0],
            std: vec![0.5],
            layout,
        }
    }

    fn wanted(scalar_type: ScalarType, shape: &[usize]) -> TensorType {
        TensorType { scalar_type, shape: shape.to_vec(), dynamic: false }
    }

    #[test]
    fn channels_are_normalized_and_ordered() {
        let picture = Picture::of_rgb(2, 1, &[[0, 51, 102], [153, 204, 255]]).unwrap();
        let planes = tensor(&picture, &steps(Layout::Nchw), &wanted(ScalarType::Float, &[1, 3, 1, 2])).unwrap();
        let value = |value: f32, mean: f32| (value / 255.0 - mean) / 0.5;
        let expected =
            [value(0.0, 0.5), value(153.0, 0.5), value(51.0, 0.25), value(204.0, 0.25), value(102.0, 0.0), 2.0];
        assert_eq!(planes.to_floats().unwrap(), expected);
        let pixels = tensor(&picture, &steps(Layout::Nhwc), &wanted(ScalarType::Byte, &[1, 2, 3])).unwrap();
        assert_eq!(pixels.bytes, [0, 51, 102, 153, 204, 255]);
    }

    #[test]
    fn gray_needs_no_dimension_of_channels() {
        let picture = Picture::new(2, 1, 1, vec![0, 255]).unwrap();
        let array = tensor(&picture, &steps(Layout::Nchw), &wanted(ScalarType::Float, &[1, 2])).unwrap();
        assert_eq!((array.shape, array.bytes.len()), (vec![1, 2], 8));
    }

    #[test]
    fn another_size_or_type_is_told() {
        let picture = Picture::of_rgb(1, 1, &[[0; 3]]).unwrap();
        let problem = |scalar_type, shape: &[usize]| {
            tensor(&picture, &steps(Layout::Nchw), &wanted(scalar_type, shape)).unwrap_err()
        };
        let size = problem(ScalarType::Float, &[1, 3, 2, 2]);
        assert_eq!(size, "1x1 pixels of 3 channels in layout nchw do not fit the input float32[1, 3, 2, 2]");
        assert!(problem(ScalarType::Long, &[1, 3, 1, 1]).contains("int64"));
    }
}
