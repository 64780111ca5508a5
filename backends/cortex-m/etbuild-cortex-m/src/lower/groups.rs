//! Convolutions in groups, from instructions for one group and for a channel per group: copies repeat channels, or cut out those of a group.

use core::ops::Range;

use et_cortex_m::{CopyRows, Place, Window};
use etbuild_backend::Refusal;
use etbuild_ir::ValueId;

use super::Lowering;
use super::product::Product;
use crate::program::{Buffer, Storage};

/// A dense convolution of some output channels.
pub(super) struct Part {
    pub input: Place,
    pub output: Place,
    pub window: Window,
    /// The output channels.
    pub channels: Range<usize>,
}

impl Part {
    /// The part of a table with an entry for each channel, or of the weights.
    pub fn of<'a, T>(&self, all: &'a [T], channels: u32) -> &'a [T] {
        let each = all.len() / (channels as usize).max(1);
        all.get(self.channels.start * each..self.channels.end * each).unwrap_or_default()
    }
}

impl Lowering<'_> {
    /// The image of a convolution with the channels of its groups: each channel several times, one after the other, where groups of one
    /// channel have several results.
    pub(super) fn repeated(&mut self, product: &Product, input: Buffer) -> Buffer {
        let (times, bytes) = (product.repeats, self.bytes_of(product));
        if times == 1 {
            return input;
        }
        let window = &product.window;
        let channels = window.in_channels / times;
        let rows = window.batch * window.in_height * window.in_width * channels;
        let output = self.program.buffer(Storage::Scratch((rows * times * bytes) as usize));
        for time in 0..times {
            let place = Place { offset: time * bytes, ..output.place() };
            let (input_pitch, output_pitch) = (bytes, times * bytes);
            let step = CopyRows { input: input.place(), output: place, rows, bytes, input_pitch, output_pitch };
            self.program.emit(step, self.name(product.operand.id));
        }
        output
    }

    /// Emits a dense convolution for each group: with copies of its channels before and behind, if there are several.
    pub(super) fn in_groups(
        &mut self,
        product: &Product,
        (input, output): (Buffer, Buffer),
        to: ValueId,
        mut emit: impl FnMut(&mut Self, &Part) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let (all, bytes, groups) = (product.window, self.bytes_of(product), product.groups as u32);
        if groups <= 1 {
            let channels = 0..all.out_channels as usize;
            return emit(self, &Part { input: input.place(), output: output.place(), window: all, channels });
        }
        let window = Window { in_channels: all.in_channels / groups, out_channels: all.out_channels / groups, ..all };
        let rows = [all.in_height * all.in_width, all.out_height * all.out_width].map(|pixels| all.batch * pixels);
        let parts = [window.in_channels, window.out_channels].map(|channels| channels * bytes);
        let pitches = [all.in_channels, all.out_channels].map(|channels| channels * bytes);
        for group in 0..groups {
            let mut scratch =
                |side: usize| self.program.buffer(Storage::Scratch(rows[side] as usize * parts[side] as usize)).place();
            let (from, into) = (scratch(0), scratch(1));
            let within = |buffer: Buffer, side: usize| {
                let place = buffer.place();
                Place { offset: place.offset + group * parts[side], ..place }
            };
            let before = CopyRows {
                input: within(input, 0),
                output: from,
                rows: rows[0],
                bytes: parts[0],
                input_pitch: pitches[0],
                output_pitch: parts[0],
            };
            let behind = CopyRows {
                input: into,
                output: within(output, 1),
                rows: rows[1],
                bytes: parts[1],
                input_pitch: parts[1],
                output_pitch: pitches[1],
            };
            let start = (group * window.out_channels) as usize;
            let channels = start..start + window.out_channels as usize;
            self.program.emit(before, self.name(to));
            emit(self, &Part { input: from, output: into, window, channels })?;
            self.program.emit(behind, self.name(to));
        }
        Ok(())
    }

    /// The bytes of an element.
    fn bytes_of(&self, product: &Product) -> u32 {
        self.links.graph.spec(product.operand.id).scalar_type.size() as u32
    }
}
