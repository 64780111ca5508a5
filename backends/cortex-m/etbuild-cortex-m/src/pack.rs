//! Weights in the layouts that the kernels read ([`et_cortex_m::row`]).

use et_cortex_m::Window;
use et_cortex_m::row::{CHANNELS, DEPTHWISE_CHANNELS, DEPTHWISE_ORDER};

/// The weights of a convolution, `[out channels][in channels][taps]` in row-major order: `[channel / 2][pair][2 products][2
/// channels]`, where the products of a channel are those of the first tap's channels, then of the next tap's.
pub fn convolution(weights: &[i8], window: &Window) -> Vec<u8> {
    let (taps, inner) = ((window.kernel_height * window.kernel_width) as usize, window.in_channels as usize);
    let products = taps * inner;
    let element = |channel: usize, product: usize| {
        let place = (product < products).then(|| channel * products + product % inner * taps + product / inner);
        place.and_then(|place| weights.get(place)).copied().unwrap_or(0).cast_unsigned()
    };
    let mut packed = Vec::new();
    for panel in 0..(window.out_channels as usize).div_ceil(CHANNELS) {
        for product in 0..products.next_multiple_of(2) {
            packed.extend((0..CHANNELS).map(|channel| element(panel * CHANNELS + channel, product)));
        }
    }
    packed
}

/// The weights of a depthwise convolution, `[channels][taps]` in row-major order: `[channel / 4][tap][channels 0, 2, 1, 3]`, int16.
pub fn depthwise(weights: &[i8], window: &Window) -> Vec<u8> {
    let (taps, channels) = ((window.kernel_height * window.kernel_width) as usize, window.in_channels as usize);
    let mut packed = Vec::new();
    for group in 0..channels.div_ceil(DEPTHWISE_CHANNELS) {
        for tap in 0..taps {
            for channel in DEPTHWISE_ORDER {
                let place = (group * DEPTHWISE_CHANNELS + channel) * taps + tap;
                let weight = weights.get(place).copied().map_or(0, i16::from);
                packed.extend_from_slice(&weight.to_le_bytes());
            }
        }
    }
    packed
}
