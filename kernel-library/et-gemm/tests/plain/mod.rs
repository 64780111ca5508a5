//! Reference loops in `f64` and reproducible random values.
#![allow(dead_code, reason = "each test file uses a part")]

use et_core::{Half, Result};
use et_gemm::{Activation, Block, BlockFormat, Grid, Isa, KERNELS, Output, Scales, Shape, Width};

/// The ISAs of this CPU.
pub fn available() -> impl Iterator<Item = Isa> {
    KERNELS.iter().map(|row| row.isa).filter(|isa| isa.is_available())
}

/// Packed weights of `size` bytes that `pack` writes.
pub fn packed(size: usize, pack: impl FnOnce(&mut [u8]) -> Result<()>) -> Vec<u8> {
    let mut packed = vec![0; size];
    pack(&mut packed).unwrap();
    packed
}

/// A contiguous output `[rows, columns]` that `compute` computes in parts of the grid, with `scratch` bytes.
pub fn in_parts<T: Copy>(
    [rows, columns]: [usize; 2],
    filler: T,
    (grid, scratch): (Grid, usize),
    parts: usize,
    compute: impl Fn(&mut Output<'_, T>, Block, &mut [u8]) -> Result<()>,
) -> Vec<T> {
    let (mut memory, mut scratch) = (vec![filler; rows * columns], vec![0x55; scratch]);
    let mut output = Output::new(&mut memory, rows, columns, columns).unwrap();
    (0..parts).for_each(|part| compute(&mut output, grid.part(part, parts), &mut scratch).unwrap());
    memory
}

/// A reproducible random generator (xorshift).
pub struct Numbers(pub u64);

impl Numbers {
    /// The next 32 bits.
    pub fn bits(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }

    /// From -1 to 1.
    pub fn float(&mut self) -> f32 {
        self.bits() as i32 as f32 / 2_147_483_648.0
    }

    /// Many floats.
    pub fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.float()).collect()
    }

    /// Many bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<i8> {
        (0..count).map(|_| self.bits() as i8).collect()
    }
}

/// The formats of blockwise weights with kernels: types, scales, and whether blocks have offsets.
pub const FORMS: [(Width, Scales, bool); 15] = [
    (Width::Int4, Scales::Halves, false),
    (Width::Int4, Scales::Steps, false),
    (Width::Int8, Scales::Halves, false),
    (Width::Int4, Scales::Floats, false),
    (Width::Int8, Scales::Floats, false),
    (Width::Int4, Scales::SuperBlocks, false),
    (Width::Int6, Scales::SuperBlocks, false),
    (Width::Int6, Scales::Floats, false),
    (Width::Int4, Scales::Halves, true),
    (Width::Int8, Scales::Halves, true),
    (Width::Int4, Scales::Floats, true),
    (Width::Int6, Scales::Floats, true),
    (Width::Int8, Scales::Floats, true),
    (Width::Int4, Scales::SuperBlocks, true),
    (Width::Int6, Scales::SuperBlocks, true),
];

/// The formats of [`FORMS`] of blocks of `group` elements that a GEMM of K = `inner` can have.
pub fn forms(group: usize, inner: usize, is_biased: bool) -> impl Iterator<Item = BlockFormat> {
    let forms = FORMS.into_iter().map(move |(width, scales, has_offsets)| BlockFormat {
        group,
        width,
        is_biased,
        has_offsets,
        scales,
    });
    forms.filter(move |form| {
        let fills = form.scales != Scales::SuperBlocks || 256 % group == 0 && inner.is_multiple_of(256);
        fills && (form.width != Width::Int6 || group.is_multiple_of(16))
    })
}

/// Blockwise weights, of which the first are the ends of the range.
pub fn weights(numbers: &mut Numbers, form: BlockFormat, count: usize) -> Vec<i8> {
    let shift = match form.width {
        Width::Int4 => 4,
        Width::Int6 => 2,
        Width::Int8 => 0,
    };
    let least = if form.has_offsets && shift > 0 { 0 } else { -128 >> shift };
    let mut weights: Vec<i8> = numbers
        .bytes(count)
        .into_iter()
        .map(|byte| ((i32::from(byte) + 128) >> shift) + least)
        .map(|weight| weight as i8)
        .collect();
    weights.iter_mut().take(2).zip([least, (255 >> shift) + least]).for_each(|(weight, end)| *weight = end as i8);
    weights
}

/// Block scales and offsets, `[columns, groups]`, that the format of scales represents exactly.
pub fn scales(numbers: &mut Numbers, form: BlockFormat, sizes: [usize; 2]) -> [Vec<f32>; 2] {
    let scales = set(numbers, form, sizes);
    [scales, if form.has_offsets { set(numbers, form, sizes) } else { Vec::new() }]
}

fn set(numbers: &mut Numbers, form: BlockFormat, [columns, inner]: [usize; 2]) -> Vec<f32> {
    let groups = inner / form.group;
    let mut column = |_| match form.scales {
        Scales::Floats => (0..groups).map(|_| 0.1 + 0.05 * numbers.float()).collect(),
        Scales::Halves => (0..groups).map(|_| Half::from_f32(0.1 + 0.05 * numbers.float()).to_f32()).collect(),
        Scales::Steps => {
            let step = (1 + numbers.bits() % 1000) as f32 / 1_048_576.0;
            let largest = numbers.bits() as usize % groups.max(1);
            let steps = |group: usize| if group == largest { 255 } else { 1 + numbers.bits() % 255 };
            (0..groups).map(steps).map(|steps| step * steps as f32).collect::<Vec<_>>()
        }
        Scales::SuperBlocks => {
            let mut step = 0.0;
            let mut scale = |group: usize| {
                if group.is_multiple_of(256 / form.group) {
                    step = (1 + numbers.bits() % 1000) as f32 / 1_048_576.0;
                }
                step * f32::from(numbers.bits() as i8)
            };
            (0..groups).map(&mut scale).collect::<Vec<_>>()
        }
    };
    (0..columns).flat_map(&mut column).collect()
}

/// Elements of the input of a shape.
pub fn input_length(shape: &Shape) -> usize {
    shape.batch * shape.input[0] * shape.input[1] * shape.pixel_stride
}

/// Calls `visit` for each multiply-add of an output element with the offset in the input (`None` for padding) and the
/// offset in the `[columns, channels, height, width]` weights.
pub fn products(shape: &Shape, row: usize, column: usize, mut visit: impl FnMut(Option<usize>, usize)) {
    let [height, width] = shape.output;
    let (image, y, x) = (row / width / height, row / width % height, row % width);
    let group = column / shape.columns;
    for tap_y in 0..shape.kernel[0] {
        for tap_x in 0..shape.kernel[1] {
            let y = (y * shape.stride[0] + tap_y * shape.dilation[0]) as isize - shape.padding[0] as isize;
            let x = (x * shape.stride[1] + tap_x * shape.dilation[1]) as isize - shape.padding[1] as isize;
            let inside = y >= 0 && x >= 0 && y < shape.input[0] as isize && x < shape.input[1] as isize;
            for channel in 0..shape.channels {
                let line = image * shape.input[0] + y.max(0) as usize;
                let pixel = line * shape.input[1] + x.max(0) as usize;
                let place = inside.then(|| pixel * shape.pixel_stride + group * shape.channels + channel);
                let taps = shape.kernel[0] * shape.kernel[1];
                let weight = (column * shape.channels + channel) * taps + tap_y * shape.kernel[1] + tap_x;
                visit(place, weight);
            }
        }
    }
}

/// An activation in `f64`.
pub fn activate(activation: Activation, x: f64) -> f64 {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    match activation {
        Activation::None => x,
        Activation::Clamp(least, most) => x.max(f64::from(least)).min(f64::from(most)),
        Activation::HardSwish => x * (x + 3.0).clamp(0.0, 6.0) / 6.0,
        Activation::HardSigmoid => (x + 3.0).clamp(0.0, 6.0) / 6.0,
        Activation::Gelu => x * (1.0 + error_function(x / 2f64.sqrt())) / 2.0,
        Activation::GeluTanh => {
            x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x)).tanh()) / 2.0
        }
        Activation::Silu => x * sigmoid(x),
        Activation::Sigmoid => sigmoid(x),
    }
}

/// By the power series; from 4 on the result is 1 within 2e-8.
fn error_function(x: f64) -> f64 {
    if x.abs() > 4.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

/// GEMM and convolution shapes with sizes at, below and above tile sizes.
pub fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for rows in [0, 1, 2, 5, 6, 7, 13, 14, 15, 33, 64] {
        for (inner, columns) in [(1, 1), (3, 15), (4, 16), (7, 17), (16, 31), (65, 33), (64, 48), (130, 70), (9, 0)] {
            shapes.push(Shape::product(rows, inner, columns));
        }
    }
    let convolution = Shape::convolution;
    shapes.extend([
        convolution([9, 8], 3, 16, 3, 2, 1),
        convolution([23, 21], 3, 20, 7, 2, 3),
        convolution([8, 56], 3, 20, 3, 2, 1),
        convolution([5, 30], 3, 40, 3, 1, 0),
        convolution([9, 40], 1, 12, 3, 2, 1),
        Shape { output: [4, 10], ..convolution([4, 100], 1, 12, 3, 1, 1) },
        Shape { output: [30, 1], ..convolution([60, 40], 1, 12, 3, 2, 1) },
        convolution([7, 7], 32, 40, 3, 1, 1),
        convolution([8, 9], 20, 18, 3, 2, 1),
        convolution([6, 5], 66, 10, 1, 2, 0),
        convolution([5, 5], 4, 33, 5, 1, 2),
        convolution([16, 16], 3, 24, 4, 4, 0),
        convolution([4, 4], 16, 7, 2, 1, 1),
        convolution([3, 3], 70, 64, 3, 1, 1),
        Shape { dilation: [2, 3], ..convolution([12, 14], 5, 9, 3, 1, 2) },
        Shape { batch: 2, ..convolution([5, 6], 3, 17, 3, 1, 1) },
        Shape { pixel_stride: 11, ..convolution([5, 6], 5, 17, 3, 1, 1) },
        Shape { pixel_stride: 40, ..Shape::product(20, 33, 20) },
        Shape { groups: 3, pixel_stride: 24, ..convolution([6, 6], 8, 35, 3, 1, 1) },
        Shape { groups: 2, pixel_stride: 10, ..convolution([6, 6], 5, 6, 1, 1, 0) },
    ]);
    shapes
}
