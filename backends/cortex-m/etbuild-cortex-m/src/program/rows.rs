//! Instructions that compute images row by row.

use et_cortex_m::{Instruction, Place, Window};

/// The parts of an instruction that change where only some rows of its result are computed.
pub struct Rowwise<'i> {
    /// The image that a window slides over.
    pub windowed: Option<Windowed<'i>>,
    /// The row-major image that becomes NHWC.
    pub planar: Option<Planar<'i>>,
    /// Images whose rows are those of the result.
    pub alike: Vec<&'i mut Place>,
    /// Numbers of elements of the result.
    pub counts: Vec<&'i mut u32>,
    /// The result.
    pub output: &'i mut Place,
    /// The bytes of an element.
    pub element: usize,
}

/// An image that a window slides over.
pub struct Windowed<'i> {
    /// The image.
    pub input: &'i mut Place,
    /// The window.
    pub window: &'i mut Window,
    /// Whether each element of the result reads all channels.
    pub is_dense: bool,
}

/// A row-major image: the rows of a channel are neighbours.
pub struct Planar<'i> {
    /// The image.
    pub input: &'i mut Place,
    /// The pixels of the result.
    pub pixels: &'i mut u32,
    /// The images, and the channels of each.
    pub images: u32,
    pub channels: u32,
    /// The bytes of an element.
    pub element: usize,
}

impl<'i> Rowwise<'i> {
    /// The parts; `None` for an instruction whose rows depend on each other, or that has batches.
    pub fn of(instruction: &'i mut Instruction) -> Option<Self> {
        let rowwise = match instruction {
            Instruction::Convolution(step) => sliding(&mut step.input, &mut step.window, &mut step.output, (1, true)),
            Instruction::Convolution4(step) => {
                let step = &mut step.convolution;
                sliding(&mut step.input, &mut step.window, &mut step.output, (1, true))
            }
            Instruction::Convolution16(step) => sliding(&mut step.input, &mut step.window, &mut step.output, (2, true)),
            Instruction::ConvolutionResidual(step) => {
                let (convolution, other) = (&mut step.convolution, &mut step.residual.input);
                let sum = sliding(&mut convolution.input, &mut convolution.window, &mut convolution.output, (1, true));
                Self { alike: vec![other], ..sum }
            }
            Instruction::ConvolutionAdd(step) => {
                let (convolution, other) = (&mut step.convolution, &mut step.other);
                let sum = sliding(&mut convolution.input, &mut convolution.window, &mut convolution.output, (1, true));
                Self { alike: vec![other], ..sum }
            }
            Instruction::Depthwise(step) => sliding(&mut step.input, &mut step.window, &mut step.output, (1, false)),
            Instruction::Depthwise16(step) => sliding(&mut step.input, &mut step.window, &mut step.output, (2, false)),
            Instruction::Maximum(step) => sliding(&mut step.input, &mut step.window, &mut step.output, (1, false)),
            Instruction::Maximum16(step) => sliding(&mut step.input, &mut step.window, &mut step.output, (2, false)),
            Instruction::Average(step) => sliding(&mut step.input, &mut step.window, &mut step.output, (1, false)),
            Instruction::Average16(step) => sliding(&mut step.input, &mut step.window, &mut step.output, (2, false)),
            Instruction::Add(step) if step.period == step.count => {
                let counts = vec![&mut step.count, &mut step.period];
                alike(vec![&mut step.left, &mut step.right], counts, &mut step.output, 1)
            }
            Instruction::Add16(step) if step.period == step.count => {
                let counts = vec![&mut step.count, &mut step.period];
                alike(vec![&mut step.left, &mut step.right], counts, &mut step.output, 2)
            }
            Instruction::Table(step) => alike(vec![&mut step.input], vec![&mut step.count], &mut step.output, 1),
            Instruction::Table16(step) => alike(vec![&mut step.input], vec![&mut step.count], &mut step.output, 2),
            Instruction::Quantize(step) => {
                let sizes = (step.images, step.channels);
                planar(&mut step.input, &mut step.pixels, sizes, &mut step.output, [4, 1])
            }
            Instruction::Quantize16(step) => {
                let sizes = (step.images, step.channels);
                planar(&mut step.input, &mut step.pixels, sizes, &mut step.output, [4, 2])
            }
            Instruction::Transpose(step) => {
                let sizes = (step.images, step.rows);
                planar(&mut step.input, &mut step.columns, sizes, &mut step.output, [1, 1])
            }
            Instruction::Transpose16(step) => {
                let sizes = (step.images, step.rows);
                planar(&mut step.input, &mut step.columns, sizes, &mut step.output, [2, 2])
            }
            _ => return None,
        };
        let batch = rowwise.windowed.as_ref().map(|windowed| windowed.window.batch);
        let images = rowwise.planar.as_ref().map(|planar| planar.images);
        (batch.or(images).unwrap_or(1) == 1).then_some(rowwise)
    }

    /// An estimate of the work, in products of a dense layer: other products and single elements take several instructions.
    pub fn work(&self) -> u64 {
        const OF_CHANNEL: u64 = 4;
        const OF_RESULT: u64 = 4;
        const OF_ELEMENT: u64 = 8;
        let product = |sizes: &[u32]| sizes.iter().map(|size| u64::from(*size)).product::<u64>();
        if let Some(Windowed { window, is_dense, .. }) = &self.windowed {
            let results = product(&[window.out_height, window.out_width, window.out_channels]);
            let taps = product(&[window.kernel_height, window.kernel_width]);
            let of_result = if *is_dense { u64::from(window.in_channels) * taps } else { OF_CHANNEL * taps };
            return results * (of_result + OF_RESULT);
        }
        let elements = match &self.planar {
            Some(planar) => product(&[*planar.pixels, planar.channels]),
            None => self.counts.first().map_or(0, |count| u64::from(**count)),
        };
        OF_ELEMENT * elements
    }
}

/// A result of windows over an image, with elements of so many bytes.
fn sliding<'i>(
    input: &'i mut Place,
    window: &'i mut Window,
    output: &'i mut Place,
    (element, is_dense): (usize, bool),
) -> Rowwise<'i> {
    let windowed = Some(Windowed { input, window, is_dense });
    Rowwise { windowed, planar: None, alike: Vec::new(), counts: Vec::new(), output, element }
}

fn alike<'i>(
    alike: Vec<&'i mut Place>,
    counts: Vec<&'i mut u32>,
    output: &'i mut Place,
    element: usize,
) -> Rowwise<'i> {
    Rowwise { windowed: None, planar: None, alike, counts, output, element }
}

/// An image in other order; `element` has the bytes of an element of both.
fn planar<'i>(
    input: &'i mut Place,
    pixels: &'i mut u32,
    (images, channels): (u32, u32),
    output: &'i mut Place,
    [from, element]: [usize; 2],
) -> Rowwise<'i> {
    let planar = Some(Planar { input, pixels, images, channels, element: from });
    Rowwise { windowed: None, planar, alike: Vec::new(), counts: Vec::new(), output, element }
}
