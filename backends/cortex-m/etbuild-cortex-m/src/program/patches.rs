//! Patch-based execution: some layers are computed for a few rows of the last one's result at a time, so that no image between them lies
//! in memory as a whole (Lin et al. 2021, MCUNetV2).
//!
//! A patch has the full width. Its instructions are those of the layers with the windows of its rows, at offsets into the images, so that
//! a device has no code for patches. Rows that two patches need are computed twice.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use et_cortex_m::{Instruction, Window};
use et_record::Record;
use etbuild_backend::{Life, Patches};

use super::rows::{Planar, Rowwise, Windowed};
use super::steps::{Steps, Storage};

/// The numbers of patches that are tried.
const COUNTS: [u32; 9] = [2, 3, 4, 6, 8, 12, 16, 24, 32];

/// The most work of all layers, relative to that without patches, of which more patches are tried.
const MOST_WORK: u64 = 3;

/// The rows and the bytes of a row of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Image {
    height: u32,
    row: usize,
}

/// Some instructions, by position, that can be computed in patches.
struct Layers<'s> {
    steps: &'s Steps,
    range: Range<usize>,
    images: BTreeMap<usize, Image>,
    /// The buffer of the last result.
    last: usize,
    /// The scratch that only these layers use, but for the last result.
    inner: BTreeSet<usize>,
}

/// The rows of a patch.
#[derive(Default)]
struct Rows {
    /// The rows of each instruction's result, the last instruction first.
    results: Vec<Range<u32>>,
    /// The rows of each image in scratch.
    images: BTreeMap<usize, Range<u32>>,
}

/// A way to compute layers in patches.
struct Candidate {
    /// The positions of the layers.
    range: Range<usize>,
    /// The number of patches.
    count: u32,
    /// The work of all instructions.
    work: u64,
    /// The most bytes of scratch that an instruction needs.
    scratch: usize,
}

impl Steps {
    /// The instructions with some layers in patches, where the scratch takes more than `most` bytes: those with the least work that fit, or
    /// with the least scratch where none fit.
    pub fn within(self, most: usize) -> (Self, Option<Patches>) {
        if self.scratch() <= most {
            return (self, None);
        }
        let (lives, work) = (self.lives(), self.work().max(1));
        let mut found = self.candidates(&lives);
        let made = |one: &Candidate| {
            let steps = Layers::of(&self, &lives, one.range.clone())?.in_patches(one.count)?;
            let work = u32::try_from(one.work * 100 / work).unwrap_or(u32::MAX);
            Some((steps, Some(Patches { layers: one.range.len(), count: one.count, work })))
        };
        found.sort_by_key(|one| (one.work, one.scratch));
        let fitting = found.iter().filter(|one| one.scratch <= most);
        let first = fitting.filter_map(made).find(|(steps, _)| steps.scratch() <= most);
        let least = || found.iter().min_by_key(|one| one.scratch).and_then(made);
        first.or_else(least).unwrap_or((self, None))
    }

    /// All ways that need less scratch.
    fn candidates(&self, lives: &[Option<Life>]) -> Vec<Candidate> {
        let (most_work, most, mut found) = (MOST_WORK * self.work(), self.most_at_once(), Vec::new());
        for start in 0..self.instructions.len() {
            for end in start + 2..=self.instructions.len() {
                let Some(layers) = Layers::of(self, lives, start..end) else { continue };
                for count in COUNTS {
                    let Some(steps) = layers.in_patches(count) else { break };
                    let (work, scratch, range) = (steps.work(), steps.most_at_once(), start..end);
                    if work > most_work {
                        break;
                    }
                    if scratch < most {
                        found.push(Candidate { range, count, work, scratch });
                    }
                }
            }
        }
        found
    }

    fn work(&self) -> u64 {
        let mut instructions = self.instructions.clone();
        instructions.iter_mut().filter_map(|one| Rowwise::of(one).map(|rowwise| rowwise.work())).sum()
    }
}

impl<'s> Layers<'s> {
    /// The layers; `None` where the rows of a layer depend on each other, or another instruction reads an image between the layers.
    fn of(steps: &'s Steps, lives: &[Option<Life>], range: Range<usize>) -> Option<Self> {
        let images = images(steps.instructions.get(range.clone())?)?;
        let result = |position: usize| {
            let mut instruction = *steps.instructions.get(position)?;
            Rowwise::of(&mut instruction).map(|rowwise| rowwise.output.argument as usize)
        };
        let last = result(range.end - 1)?;
        let is_inside = |life: &Life| range.contains(&life.0) && range.contains(&life.1);
        let inside = lives.iter().enumerate().filter(|(_, life)| life.as_ref().is_some_and(is_inside));
        let inner = inside.map(|(buffer, _)| buffer).filter(|buffer| *buffer != last && steps.is_scratch(*buffer));
        let inner: BTreeSet<usize> = inner.collect();
        let results: Option<Vec<usize>> = range.clone().map(result).collect();
        let is_closed = results?.iter().all(|buffer| *buffer == last || inner.contains(buffer));
        // The last result in the memory of an image before would lose rows that the next patch needs.
        let uses = range.clone().flat_map(|position| steps.used(position));
        let is_apart = uses.filter(|buffer| *buffer == last).count() == 1;
        (is_closed && is_apart).then_some(Self { steps, range, images, last, inner })
    }

    /// All instructions, with these layers in patches.
    fn in_patches(&self, count: u32) -> Option<Steps> {
        let height = self.images.get(&self.last)?.height;
        if height < count {
            return None;
        }
        let Steps { buffers, instructions, layers } = self.steps;
        let mut steps = Steps { buffers: buffers.clone(), ..Steps::default() };
        let copied = |range: Range<usize>| instructions[range.clone()].iter().zip(&layers[range]);
        copied(0..self.range.start).for_each(|(instruction, layer)| steps.push(*instruction, layer.clone()));
        for patch in 0..count {
            let rows = self.rows(height * patch / count..height * (patch + 1) / count)?;
            let mut places = BTreeMap::new();
            for (position, result) in self.range.clone().zip(rows.results.iter().rev()) {
                let mut instruction = instructions[position];
                self.restrict(&mut instruction, result, &rows)?;
                instruction.visit(&mut |operand| {
                    let buffer = *operand.memory as usize;
                    if self.inner.contains(&buffer) {
                        let place = places.entry(buffer);
                        *operand.memory = *place.or_insert_with(|| steps.add_scratch(self.size(buffer, &rows)));
                    }
                });
                steps.push(instruction, layers[position].clone());
            }
        }
        copied(self.range.end..instructions.len())
            .for_each(|(instruction, layer)| steps.push(*instruction, layer.clone()));
        Some(steps)
    }

    /// The bytes of a buffer for the rows of a patch.
    fn size(&self, buffer: usize, rows: &Rows) -> usize {
        match (self.images.get(&buffer), rows.images.get(&buffer), self.steps.buffers[buffer]) {
            (Some(image), Some(rows), _) => rows.len() * image.row,
            (_, _, Storage::Scratch(size)) => size,
            (_, _, Storage::Argument { .. }) => 0,
        }
    }

    /// The rows that a patch needs of each image.
    fn rows(&self, patch: Range<u32>) -> Option<Rows> {
        let (mut rows, mut needed) = (Rows::default(), BTreeMap::from([(self.last, patch)]));
        let mut whole = BTreeSet::new();
        for position in self.range.clone().rev() {
            let mut instruction = self.steps.instructions[position];
            let rowwise = Rowwise::of(&mut instruction)?;
            let output = rowwise.output.argument as usize;
            let result = needed.remove(&output)?;
            widen(&mut rows.images, output, &result);
            rowwise.alike.iter().for_each(|place| widen(&mut needed, place.argument as usize, &result));
            if let Some(Planar { input, .. }) = rowwise.planar {
                whole.insert(input.argument as usize);
            }
            if let Some(Windowed { input, window, .. }) = rowwise.windowed {
                widen(&mut needed, input.argument as usize, &read(window, &result)?.0);
            }
            rows.results.push(result);
        }
        // Whatever is left comes from outside.
        let is_computed = |buffer: &usize| rows.images.contains_key(buffer);
        (!needed.keys().chain(&whole).any(is_computed)).then_some(rows)
    }

    /// Restricts an instruction to rows of its result.
    fn restrict(&self, instruction: &mut Instruction, result: &Range<u32>, rows: &Rows) -> Option<()> {
        let rowwise = Rowwise::of(instruction)?;
        let output = *self.images.get(&(rowwise.output.argument as usize))?;
        let offset = |buffer: u32, row: u32| {
            let buffer = buffer as usize;
            let first = rows.images.get(&buffer).filter(|_| self.inner.contains(&buffer)).map_or(0, |rows| rows.start);
            Some((row - first) * self.images.get(&buffer)?.row as u32)
        };
        if let Some(Windowed { input, window, .. }) = rowwise.windowed {
            let (read, pad_top) = read(window, result)?;
            input.offset += offset(input.argument, read.start)?;
            (window.in_height, window.out_height, window.pad_top) = (read.len() as u32, result.len() as u32, pad_top);
        }
        if let Some(Planar { input, pixels, channels, element, .. }) = rowwise.planar {
            // A row-major image is never one of the inner images: its rows are no neighbours.
            let width = output.row / rowwise.element / channels.max(1) as usize;
            input.offset += (result.start as usize * width * element) as u32;
            *pixels = (result.len() * width) as u32;
        }
        for place in rowwise.alike {
            place.offset += offset(place.argument, result.start)?;
        }
        let elements = (result.len() * output.row / rowwise.element) as u32;
        rowwise.counts.into_iter().for_each(|count| *count = elements);
        rowwise.output.offset += offset(rowwise.output.argument, result.start)?;
        Some(())
    }
}

impl Steps {
    /// The number of a new buffer of scratch.
    fn add_scratch(&mut self, size: usize) -> u32 {
        self.buffers.push(Storage::Scratch(size));
        self.buffers.len() as u32 - 1
    }
}

/// The rows of the input that rows of the result read, and the rows of padding above them.
fn read(window: &Window, result: &Range<u32>) -> Option<(Range<u32>, u32)> {
    let place = |row: u32| i64::from(row) * i64::from(window.stride_height) - i64::from(window.pad_top);
    let taps = i64::from(window.kernel_height.checked_sub(1)?) * i64::from(window.dilation_height) + 1;
    let (origin, end) = (place(result.start), place(result.end.checked_sub(1)?) + taps);
    let rows = origin.max(0)..end.min(i64::from(window.in_height));
    let above = u32::try_from(rows.start - origin).ok()?;
    (rows.start < rows.end).then_some((rows.start as u32..rows.end as u32, above))
}

/// The images of instructions by buffer; `None` where an instruction has none, or a buffer has images of several shapes.
fn images(instructions: &[Instruction]) -> Option<BTreeMap<usize, Image>> {
    let (mut images, mut is_equal) = (BTreeMap::<usize, Image>::new(), true);
    let mut put = |images: &mut BTreeMap<usize, Image>, buffer: u32, image: Image| {
        is_equal &= *images.entry(buffer as usize).or_insert(image) == image;
    };
    for mut instruction in instructions.iter().copied() {
        let rowwise = Rowwise::of(&mut instruction)?;
        let Some(Windowed { input, window, .. }) = rowwise.windowed else { continue };
        let row = |sizes: [u32; 2]| sizes.iter().map(|size| *size as usize).product::<usize>() * rowwise.element;
        let output = Image { height: window.out_height, row: row([window.out_width, window.out_channels]) };
        put(
            &mut images,
            input.argument,
            Image { height: window.in_height, row: row([window.in_width, window.in_channels]) },
        );
        put(&mut images, rowwise.output.argument, output);
        rowwise.alike.iter().for_each(|place| put(&mut images, place.argument, output));
    }
    for mut instruction in instructions.iter().copied() {
        let rowwise = Rowwise::of(&mut instruction)?;
        if rowwise.windowed.is_none() {
            let places = rowwise.alike.iter().map(|place| place.argument).chain([rowwise.output.argument]);
            let known = places.clone().find_map(|buffer| images.get(&(buffer as usize)).copied())?;
            places.for_each(|buffer| put(&mut images, buffer, known));
        }
    }
    is_equal.then_some(images)
}

/// Adds rows to those of a buffer.
fn widen(rows: &mut BTreeMap<usize, Range<u32>>, buffer: usize, more: &Range<u32>) {
    let known = rows.entry(buffer).or_insert_with(|| more.clone());
    *known = known.start.min(more.start)..known.end.max(more.end);
}
