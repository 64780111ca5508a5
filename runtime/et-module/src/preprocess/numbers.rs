//! 8-bit values of pixels to numbers.

use super::{ImageSteps, Layout, Scale};

impl ImageSteps {
    /// `(value * scale - mean) / std` of the values of pixels with so many channels, in the order of the pixels, computed as torchvision
    /// computes the numbers.
    pub fn numbers(&self, values: &[u8], channels: usize) -> Vec<f32> {
        let Scale { numerator, denominator } = self.scale;
        let of_channel = |numbers: &[f32], channel: usize| numbers.get(channel).or(numbers.first()).copied();
        let constants: Vec<(f32, f32)> = (0..channels)
            .map(|channel| {
                (of_channel(&self.mean, channel).unwrap_or(0.0), of_channel(&self.std, channel).unwrap_or(1.0))
            })
            .collect();
        let normalized =
            |(value, (mean, std)): (&u8, &(f32, f32))| (f32::from(*value) * numerator / denominator - mean) / std;
        values.iter().zip(constants.iter().cycle()).map(normalized).collect()
    }
}

impl Layout {
    /// Values of pixels in this order.
    pub fn ordered<T: Copy>(self, values: &[T], channels: usize) -> Vec<T> {
        match self {
            Self::Nhwc => values.to_vec(),
            Self::Nchw => {
                let plane = |channel: usize| values.iter().skip(channel).step_by(channels.max(1)).copied();
                (0..channels).flat_map(plane).collect()
            }
        }
    }
}
