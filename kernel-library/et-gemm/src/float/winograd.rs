//! Winograd convolution F(2x2, 3x3) for stride 1: input transform, a GEMM per point (16), output transform. Results
//! differ from direct convolution in the last bits.
//!
//! Packed weights are 16/9 of the direct size. The transformed input of a strip of lines stays in L2.
#![allow(unsafe_code, reason = "kernels are called with pointers whose bounds are checked here, once a call")]

use core::ops::Range;

use et_core::Result;
use et_simd::{Activation, Isa};

use super::direct::{Direct, FloatOperands};
use super::pack::{Weights, panels};
use crate::kernels::float::Epilogue;
use crate::kernels::transform::{CENTRE, POINTS, Pixels, Window, weights};
use crate::kernels::{FloatKernels, KernelRow};
use crate::output::Output;
use crate::panels::Panels;
use crate::scratch::{self, Scratch};
use crate::shape::{Block, Grid, Shape};

/// With fewer input or output channels, the transforms cost more than the GEMMs save.
const LEAST_CHANNELS: usize = 48;

/// With fewer output tiles, the larger weights cost more bandwidth than the GEMMs save.
const LEAST_WINDOWS: usize = 40;

/// L2 budget for the transformed input and the GEMM outputs of a strip.
const STRIP_BYTES: usize = 7 << 17;

/// Padding between the points of a strip, in elements: a cache line, so that the points of a tile do not alias in the
/// caches.
const GAP: usize = 16;

/// A convolution by the Winograd algorithm.
#[derive(Clone, Copy)]
pub struct Winograd {
    shape: Shape,
    isa: Isa,
    /// Vertical and horizontal number of output tiles (2 x 2 pixels) per image.
    windows: [usize; 2],
}

impl Winograd {
    /// The Winograd convolution, if faster than the direct convolution.
    pub fn new(shape: &Shape, isa: Isa) -> Option<Self> {
        let winograd = Self::of(shape, isa)?;
        let [down, across] = winograd.windows;
        let deep = shape.channels.min(shape.columns) >= LEAST_CHANNELS;
        let many = shape.batch.checked_mul(down)?.checked_mul(across)? >= LEAST_WINDOWS;
        (deep && many && winograd.most_at_once() >= across).then_some(winograd)
    }

    /// The Winograd convolution of a shape that the algorithm computes.
    pub fn of(shape: &Shape, isa: Isa) -> Option<Self> {
        let is_3x3 = [shape.kernel, shape.stride, shape.dilation] == [[3, 3], [1, 1], [1, 1]];
        let is_single = [shape.groups, shape.planes] == [1, 1];
        shape.channels.checked_add(shape.columns)?.checked_mul(4 * POINTS)?;
        // The scratch of a strip, which has a line of tiles at least.
        let most = shape.output[1].div_ceil(2).max(STRIP_BYTES / (4 * POINTS));
        let point = most.checked_mul(shape.channels.max(shape.columns))?.checked_add(GAP)?;
        point.checked_mul(8 * POINTS).filter(|bytes| isize::try_from(*bytes).is_ok())?;
        (is_3x3 && is_single).then_some(Self { shape: *shape, isa, windows: shape.output.map(|size| size.div_ceil(2)) })
    }

    /// The output tiles whose transformed inputs and GEMM outputs fit [`STRIP_BYTES`].
    const fn most_at_once(&self) -> usize {
        STRIP_BYTES / (4 * POINTS * (self.shape.channels + self.shape.columns))
    }

    /// The GEMM of a point: M is the number of output tiles, K the input channels, N the output channels.
    fn product(&self, windows: usize) -> Result<Direct> {
        Ok(Direct::new(Shape::product(windows, self.shape.channels, self.shape.columns), self.isa)?.streaming())
    }

    /// Packed weights per point, in elements.
    const fn point_size(&self) -> usize {
        self.panels().size(1)
    }

    /// The packed panels of a point.
    const fn panels(&self) -> Panels {
        panels(&Shape::product(1, self.shape.channels, self.shape.columns), self.isa.architecture())
    }

    /// Size of the packed weights in bytes.
    pub const fn packed_size(&self) -> usize {
        4 * POINTS * self.point_size()
    }

    /// Packs validated weights and an optional bias (may be empty), point by point, each point as panels of a GEMM.
    #[inline]
    pub fn pack(&self, from: &Weights<'_, f32>, bias: &[f32], packed: &mut [u8]) {
        let (channels, point_size) = (self.shape.channels, self.point_size());
        let panels = self.panels();
        packed.fill(0);
        let mut write = |at: usize, value: f32| packed[4 * at..4 * at + 4].copy_from_slice(&value.to_le_bytes());
        for panel in (0..panels.per_group).map(|index| panels.get(index)) {
            for lane in 0..panel.columns {
                let column = panel.column + lane;
                write(CENTRE * point_size + panel.start + lane, bias.get(column).copied().unwrap_or(0.0));
                for channel in 0..channels {
                    let points = weights(core::array::from_fn(|tap| from.get(column, tap, channel)));
                    let at = panel.start + (channel + 1) * panel.step + lane;
                    points.into_iter().enumerate().for_each(|(point, value)| write(point * point_size + at, value));
                }
            }
        }
    }

    /// Lines of output tiles in the batch.
    const fn lines(&self) -> usize {
        self.shape.batch * self.windows[0]
    }

    /// The grid: strips of lines. Each strip reads every weight.
    pub const fn grid(&self) -> Grid {
        Grid::of_tiles(self.shape.rows(), self.lines().div_ceil(self.most_lines()), 1)
    }

    /// The maximum number of tile lines per strip, at least one.
    const fn most_lines(&self) -> usize {
        match self.most_at_once().checked_div(self.windows[1]) {
            None | Some(0) => 1,
            Some(lines) => lines,
        }
    }

    /// The most tiles of a strip, for any image up to this width.
    fn most_windows(&self) -> usize {
        self.most_at_once().max(self.windows[1])
    }

    /// The first tile line of a strip: strips have equal numbers of lines, up to a line.
    const fn lines_before(&self, strip: usize) -> usize {
        // The product may be more than an address.
        (strip as u64 * self.lines() as u64 / self.grid().tiles as u64) as usize
    }

    /// Scratch bytes per call.
    pub fn scratch_size(&self) -> usize {
        let windows = self.most_windows();
        let inner = self.product(windows).map_or(0, |product| product.scratch_size());
        scratch::total(&[
            scratch::part(self.shape.channels, 4),
            scratch::part(POINTS * (windows * self.shape.channels + GAP), 4),
            scratch::part(POINTS * (windows * self.shape.columns + GAP), 4),
            scratch::part(inner, 1),
        ])
    }

    /// The first output row (pixel) of a strip.
    const fn row_of(&self, strip: usize) -> usize {
        let line = self.lines_before(strip);
        let [height, width] = self.shape.output;
        let (image, within) = (line / self.windows[0], 2 * (line % self.windows[0]));
        (image * height + if within < height { within } else { height }) * width
    }

    /// Computes a block of at least a strip. Fails if an operand, the output or the scratch is too short, or if this CPU
    /// lacks the ISA.
    #[inline]
    pub fn compute(
        &self,
        operands: &FloatOperands<'_>,
        output: &mut Output<'_, f32>,
        block: Block,
        scratch: &mut [u8],
    ) -> Result<()> {
        let (channels, columns) = (self.shape.channels, self.shape.columns);
        let rows = self.row_of(block.tiles[0])..self.row_of(block.tiles[1]);
        operands.check((&self.shape, self.packed_size()), output, (&self.grid(), block), (rows, 0..columns))?;
        let kernels = KernelRow::of(self.isa).float.available()?;
        let mut scratch = Scratch::new(scratch)?;
        let padding = scratch.take::<f32>(channels)?;
        padding.fill(0.0);
        let most = self.most_windows();
        let points = scratch.take::<f32>(POINTS * (most * channels + GAP))?;
        let products = scratch.take::<f32>(POINTS * (most * columns + GAP))?;
        let inner = scratch.take::<u8>(self.product(most)?.scratch_size())?;
        for strip in block.tiles[0]..block.tiles[1] {
            let lines = self.lines_before(strip)..self.lines_before(strip + 1);
            let windows = lines.len() * self.windows[1];
            // SAFETY: the operands are validated, the CPU has the ISA, and the scratch has room for a strip.
            unsafe { self.transform(kernels, operands.input, padding, lines.clone(), points) };
            self.multiply(operands.weights, windows, points, products, inner)?;
            // SAFETY: as above.
            unsafe { self.finish(kernels, operands, output, lines, products) };
        }
        Ok(())
    }

    /// Image, top and left pixel of the output tiles of `lines`.
    fn windows_of(&self, lines: Range<usize>) -> impl Iterator<Item = [usize; 3]> + use<> {
        let [down, across] = self.windows;
        lines.flat_map(move |line| (0..across).map(move |window| [line / down, 2 * (line % down), 2 * window]))
    }

    /// Transforms the input tiles of `lines`.
    #[inline]
    unsafe fn transform(
        &self,
        kernels: &FloatKernels,
        input: &[f32],
        padding: &[f32],
        lines: Range<usize>,
        points: &mut [f32],
    ) {
        let (channels, [height, width]) = (self.shape.channels, self.shape.input);
        let step = lines.len() * self.windows[1] * channels + GAP;
        let mut to = points.as_mut_ptr();
        for [image, top, left] in self.windows_of(lines) {
            let mut pixels = [padding.as_ptr(); POINTS];
            for (index, pixel) in pixels.iter_mut().enumerate() {
                let y = (top + index / 4).wrapping_sub(self.shape.padding[0]);
                let x = (left + index % 4).wrapping_sub(self.shape.padding[1]);
                if y < height && x < width {
                    let index = (image * height + y) * width + x;
                    *pixel = input.as_ptr().wrapping_add(index * self.shape.pixel_stride);
                }
            }
            // SAFETY: each pixel is in the image or the padding; `points` has room for the tiles of the strip.
            unsafe { (kernels.input)(&Window { pixels, channels, to, step }) };
            to = to.wrapping_add(channels);
        }
    }

    /// Runs the GEMM of each point.
    #[inline]
    fn multiply(
        &self,
        packed: &[u8],
        windows: usize,
        points: &[f32],
        products: &mut [f32],
        scratch: &mut [u8],
    ) -> Result<()> {
        let product = self.product(windows)?;
        let (channels, columns) = (self.shape.channels, self.shape.columns);
        let weights = packed.chunks_exact(product.packed_size());
        let inputs = points.chunks_exact(windows * channels + GAP);
        for ((weights, input), memory) in weights.zip(inputs).zip(products.chunks_exact_mut(windows * columns + GAP)) {
            let operands = FloatOperands { input, weights, activation: Activation::None, residual: None };
            let mut output = Output::new(memory, windows, columns, columns)?;
            product.compute(&operands, &mut output, product.grid().all(), scratch)?;
        }
        Ok(())
    }

    /// Transforms the GEMM outputs of `lines` to output pixels.
    #[inline]
    unsafe fn finish(
        &self,
        kernels: &FloatKernels,
        operands: &FloatOperands<'_>,
        output: &mut Output<'_, f32>,
        lines: Range<usize>,
        products: &[f32],
    ) {
        let (columns, [height, width]) = (self.shape.columns, self.shape.output);
        let bounds = operands.activation.bounds();
        let (residual_last, stride) = (operands.residual.is_some_and(|residual| residual.after), output.stride());
        let step = lines.len() * self.windows[1] * columns + GAP;
        let mut from = products.as_ptr();
        for [image, top, left] in self.windows_of(lines) {
            let row = |index: usize| {
                let (y, x) = (top + index / 2, left + index % 2);
                (y < height && x < width).then_some((image * height + y) * width + x)
            };
            let to = [0, 1, 2, 3].map(|index| row(index).map_or(core::ptr::null_mut(), |row| output.at(row, 0)));
            let residuals = [0, 1, 2, 3].map(|index| match (operands.residual, row(index)) {
                (Some(residual), Some(row)) => residual.at(row, 0),
                _ => core::ptr::null(),
            });
            let early = if bounds.is_none() && residual_last { [core::ptr::null(); 4] } else { residuals };
            let bounds = bounds.unwrap_or([f32::NEG_INFINITY, f32::INFINITY]);
            // SAFETY: `products` covers the tiles of the strip; pixels and residuals are within the validated
            // block.
            unsafe {
                (kernels.output)(&Pixels { from, step, columns, to, residuals: early, residual_last, bounds });
            }
            if operands.activation.bounds().is_none() {
                for (to, residual) in to.into_iter().zip(residuals).filter(|(to, _)| !to.is_null()) {
                    let stored = Epilogue::new(to, stride, columns, operands.activation);
                    let epilogue = Epilogue { residual, residual_last, ..stored };
                    // SAFETY: as above.
                    unsafe { (kernels.finish)(&epilogue, epilogue.stored(1)) };
                }
            }
            from = from.wrapping_add(columns);
        }
    }
}
