//! Weights in the layouts that the kernels read ([`et_cortex_m::row`]).

use et_cortex_m::Window;
use et_cortex_m::row::int4::half;
use et_cortex_m::row::{BLOCK_CHANNELS, CHANNELS, DEPTHWISE_CHANNELS};

/// The weights of a convolution, `[out channels][in channels][taps]` in row-major order, as `[channel / 2][pair][2]` int16 of `256
/// * odd + even`, where the products of a channel are those of the first tap's channels, then of the next tap's.
pub fn convolution(weights: &[i8], window: &Window) -> Vec<u8> {
    let products = (window.kernel_height * window.kernel_width * window.in_channels) as usize;
    let element = element(weights, window);
    let mut packed = Vec::new();
    for panel in 0..(window.out_channels as usize).div_ceil(CHANNELS) {
        for product in 0..products.next_multiple_of(2) {
            let [even, odd] = [0, 1].map(|channel| i16::from(element(panel * CHANNELS + channel, product)));
            packed.extend_from_slice(&odd.wrapping_mul(256).wrapping_add(even).to_le_bytes());
        }
    }
    packed
}

/// The weights of a convolution with int16 columns: int8 `[channel / 2][pair][product % 2][channel % 2]`, in the same order of products.
pub fn pairs(weights: &[i8], window: &Window) -> Vec<u8> {
    let products = (window.kernel_height * window.kernel_width * window.in_channels) as usize;
    let element = element(weights, window);
    let panels = (0..window.out_channels as usize).step_by(CHANNELS);
    panels
        .flat_map(|panel| (0..products.next_multiple_of(2)).map(move |product| (panel, product)))
        .flat_map(|(panel, product)| [0, 1].map(|channel| element(panel + channel, product).cast_unsigned()))
        .collect()
}

/// The weights of a convolution with int16 columns in blocks: int8 `[channel / 2][block][channel % 2][product]`, in the same order of
/// products.
pub fn int16_blocks(weights: &[i8], window: &Window, block: usize) -> Vec<u8> {
    panels(weights, window, CHANNELS, block)
}

/// The weight of a channel and a product in `[out channels][in channels][taps]`, where the products of a channel are those of the first
/// tap's channels, then of the next tap's; 0 behind the last.
fn element(weights: &[i8], window: &Window) -> impl Fn(usize, usize) -> i8 {
    let (taps, inner) = ((window.kernel_height * window.kernel_width) as usize, window.in_channels as usize);
    move |channel, product| {
        let place = (product < taps * inner).then(|| channel * taps * inner + product % inner * taps + product / inner);
        place.and_then(|place| weights.get(place)).copied().unwrap_or_default()
    }
}

/// int4 weights of a convolution for the layout of pairs: bytes `[channel / 2][pair / 2][product % 2][channel % 2]`, the first of two
/// pairs in the upper bits.
pub fn int4_pairs(weights: &[i8], window: &Window) -> Vec<u8> {
    let products = (window.kernel_height * window.kernel_width * window.in_channels) as usize;
    let element = element(weights, window);
    let mut packed = Vec::new();
    for panel in (0..window.out_channels as usize).step_by(CHANNELS) {
        for first in (0..products).step_by(4) {
            for product in [first, first + 1] {
                packed.extend([panel, panel + 1].map(|channel| {
                    let [high, low] = [product, product + 2].map(|product| element(channel, product).cast_unsigned());
                    high << 4 | low & 15
                }));
            }
        }
    }
    packed
}

/// int4 weights of a convolution for the layout of blocks: the first of two halves of the int8 weights of a panel in the lower bits.
pub fn int4_blocks(weights: &[i8], window: &Window, block: usize) -> Vec<u8> {
    let panels = (window.out_channels as usize).div_ceil(BLOCK_CHANNELS).max(1);
    let (packed, half) = (blocks(weights, window, block), half(block));
    let halves = packed.chunks((packed.len() / panels).max(1)).flat_map(|panel| panel.chunks(2 * half));
    let byte = |both: &[u8], at: usize| {
        let [low, high] = [at, at + half].map(|at| both.get(at).copied().unwrap_or_default());
        high << 4 | low & 15
    };
    halves.flat_map(|both| (0..half).map(move |at| byte(both, at))).collect()
}

/// The weights of a convolution in the layout of blocks: int8 `[channel / 4][block][channel % 4][product]`, in the same order of products.
pub fn blocks(weights: &[i8], window: &Window, block: usize) -> Vec<u8> {
    panels(weights, window, BLOCK_CHANNELS, block)
}

/// The weights of a convolution by panels of channels: int8 `[panel][block][channel][product]`.
fn panels(weights: &[i8], window: &Window, channels: usize, block: usize) -> Vec<u8> {
    let products = (window.kernel_height * window.kernel_width * window.in_channels) as usize;
    let element = &element(weights, window);
    let mut packed = Vec::new();
    for panel in (0..window.out_channels as usize).step_by(channels) {
        for first in (0..products).step_by(block) {
            let channels = panel..panel + channels;
            packed.extend(channels.flat_map(|channel| {
                (first..first + block).map(move |product| element(channel, product).cast_unsigned())
            }));
        }
    }
    packed
}

/// Whether the weights of two channels fit in an int16 each.
pub fn fits(weights: &[i8], channels: usize) -> bool {
    let inner = weights.len() / channels.max(1);
    let mut panels = weights.chunks((CHANNELS * inner).max(1));
    panels.all(|panel| {
        let (even, odd) = panel.split_at(inner.min(panel.len()));
        even.iter().zip(odd).all(|(even, odd)| *even >= 0 || *odd > i8::MIN)
    })
}

/// The weights of a depthwise convolution, `[channels][taps]` in row-major order, as int8 `[channel / 4][tap / 2][channel / 2 % 2][tap
/// % 2][channel % 2]`.
pub fn depthwise(weights: &[i8], window: &Window) -> Vec<u8> {
    let (taps, channels) = ((window.kernel_height * window.kernel_width) as usize, window.in_channels as usize);
    let element = |channel: usize, tap: usize| {
        let place = (channel < channels && tap < taps).then(|| channel * taps + tap);
        place.and_then(|place| weights.get(place)).map_or(0, |weight| weight.cast_unsigned())
    };
    let mut packed = Vec::new();
    for group in (0..channels).step_by(DEPTHWISE_CHANNELS) {
        for tap in (0..taps).step_by(2) {
            for half in [group, group + 2] {
                packed.extend([
                    element(half, tap),
                    element(half + 1, tap),
                    element(half, tap + 1),
                    element(half + 1, tap + 1),
                ]);
            }
        }
    }
    packed
}

/// The weights of a depthwise convolution, `[channels][taps]` in row-major order, as int8 `[channel / group][tap][channel % group]`.
pub fn depthwise_groups(weights: &[i8], window: &Window, group: usize) -> Vec<u8> {
    let (taps, channels) = ((window.kernel_height * window.kernel_width) as usize, window.in_channels as usize);
    let element =
        |channel: usize, tap: usize| weights.get(channel * taps + tap).map_or(0, |weight| weight.cast_unsigned());
    let groups = (0..channels).step_by(group);
    groups
        .flat_map(|first| {
            (0..taps).flat_map(move |tap| (first..first + group).map(move |channel| element(channel, tap)))
        })
        .collect()
}
