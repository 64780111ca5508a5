//! Instructions that compute images row by row.

use et_cortex_m::{Instruction, Place, Window};

/// The parts of an instruction that change where only some rows of its result are computed.
pub struct Rowwise<'i> {
    /// The image that a window slides over.
    pub windowed: Option<Windowed<'i>>,
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

impl<'i> Rowwise<'i> {
    /// The parts; `None` for an instruction whose rows depend on each other, or that has batches.
    pub fn of(instruction: &'i mut Instruction) -> Option<Self> {
        let rowwise = match instruction {
            Instruction::Convolution(step) => dense(&mut step.input, &mut step.window, &mut step.output, 1),
            Instruction::Convolution4(step) => {
                let step = &mut step.convolution;
                dense(&mut step.input, &mut step.window, &mut step.output, 1)
            }
            Instruction::Convolution16(step) => dense(&mut step.input, &mut step.window, &mut step.output, 2),
            Instruction::ConvolutionResidual(step) => {
                let (convolution, other) = (&mut step.convolution, &mut step.residual.input);
                let sum = dense(&mut convolution.input, &mut convolution.window, &mut convolution.output, 1);
                Self { alike: vec![other], ..sum }
            }
            Instruction::ConvolutionAdd(step) => {
                let (convolution, other) = (&mut step.convolution, &mut step.other);
                let sum = dense(&mut convolution.input, &mut convolution.window, &mut convolution.output, 1);
                Self { alike: vec![other], ..sum }
            }
            Instruction::Depthwise(step) => by_channel(&mut step.input, &mut step.window, &mut step.output, 1),
            Instruction::Depthwise16(step) => by_channel(&mut step.input, &mut step.window, &mut step.output, 2),
            Instruction::Maximum(step) => by_channel(&mut step.input, &mut step.window, &mut step.output, 1),
            Instruction::Maximum16(step) => by_channel(&mut step.input, &mut step.window, &mut step.output, 2),
            Instruction::Average(step) => by_channel(&mut step.input, &mut step.window, &mut step.output, 1),
            Instruction::Average16(step) => by_channel(&mut step.input, &mut step.window, &mut step.output, 2),
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
            _ => return None,
        };
        let has_batches = rowwise.windowed.as_ref().is_some_and(|windowed| windowed.window.batch != 1);
        (!has_batches).then_some(rowwise)
    }

    /// How often the instruction multiplies or compares.
    pub fn work(&self) -> u64 {
        let Some(Windowed { window, is_dense, .. }) = &self.windowed else {
            return self.counts.first().map_or(0, |count| u64::from(**count));
        };
        let channels = if *is_dense { window.in_channels } else { 1 };
        let sizes =
            [window.out_height, window.out_width, window.out_channels, window.kernel_height, window.kernel_width];
        sizes.into_iter().chain([channels]).map(u64::from).product()
    }
}

fn dense<'i>(input: &'i mut Place, window: &'i mut Window, output: &'i mut Place, element: usize) -> Rowwise<'i> {
    let windowed = Some(Windowed { input, window, is_dense: true });
    Rowwise { windowed, alike: Vec::new(), counts: Vec::new(), output, element }
}

fn by_channel<'i>(input: &'i mut Place, window: &'i mut Window, output: &'i mut Place, element: usize) -> Rowwise<'i> {
    let windowed = Some(Windowed { input, window, is_dense: false });
    Rowwise { windowed, alike: Vec::new(), counts: Vec::new(), output, element }
}

fn alike<'i>(
    alike: Vec<&'i mut Place>,
    counts: Vec<&'i mut u32>,
    output: &'i mut Place,
    element: usize,
) -> Rowwise<'i> {
    Rowwise { windowed: None, alike, counts, output, element }
}
