//! A partition with dynamic sizes computes at every size, on a blob made once, the bits of a program with that static size; a blob
//! with damaged formulas is refused or computes, and never crashes.

mod part;

use std::ops::RangeInclusive;

use et_core::ScalarType;
use et_module::{Module, TensorView};
use etbuild_conformance::{compile, load};
use etbuild_ir::{Argument, LoweredProgram, ValueId};
use part::{Made, bytes, candidate, numbers, this_machine};

const CHANNELS: usize = 20;
const COLUMNS: usize = 52;

/// A batch, a height and a width: from the first number to the last.
type Sizes = [RangeInclusive<usize>; 3];

const BOUNDS: Sizes = [1..=4, 3..=70, 3..=90];

fn exactly([batch, height, width]: [usize; 3]) -> Sizes {
    [batch..=batch, height..=height, width..=width]
}

/// The bounds of an image with these channels, whose height and width changed.
fn image(sizes: &Sizes, channels: usize, change: impl Fn(usize) -> usize) -> [[usize; 4]; 2] {
    let bound = |pick: fn(&RangeInclusive<usize>) -> usize| {
        let [batch, height, width] = [0, 1, 2].map(|index| pick(&sizes[index]));
        [batch, channels, change(height), change(width)]
    };
    [bound(|range| *range.start()), bound(|range| *range.end())]
}

impl Made {
    fn bounded(&mut self, id: ValueId, [least, _]: [[usize; 4]; 2]) -> Argument {
        let spec = &mut self.0.values[id.index()].spec;
        *spec = spec.clone().with_least(least.map(|size| size as i32));
        Argument::Value(id)
    }
}

/// A 3x3 convolution with stride 2, a 3x3 convolution that Winograd may compute, a depthwise convolution, and the sum of the last two.
fn program(sizes: &Sizes) -> LoweredProgram {
    let mut made = Made::default();
    let halved = |size: usize| size.div_ceil(2);
    let [whole, half] = [image(sizes, CHANNELS, |size| size), image(sizes, COLUMNS, halved)];
    let input = made.input("x", &whole[1]);
    made.bounded(input, whole);
    made.0.values[input.index()].symbolic = ["s0", "", "s1", "s2"].map(|name| name.parse().ok()).to_vec();
    let weights = made.constant(&[COLUMNS, CHANNELS, 3, 3], &numbers(COLUMNS * CHANNELS * 9, 1));
    let pair = |number| Argument::Ints(vec![number; 2]);
    let rest = [pair(2), pair(1), pair(1), Argument::Bool(false), pair(0), Argument::Int(1)];
    let arguments = [Argument::Value(input), weights, Argument::None].into_iter().chain(rest).collect();
    let first = made.node("aten.convolution.default", &half[1], arguments);
    let first = made.bounded(first, half);
    let weights = made.constant(&[COLUMNS, COLUMNS, 3, 3], &numbers(COLUMNS * COLUMNS * 9, 2));
    let second = made.convolution([first.clone(), weights, Argument::None], half[1], 1, 1);
    let second = made.bounded(second, half);
    let weights = made.constant(&[COLUMNS, 1, 3, 3], &numbers(COLUMNS * 9, 3));
    let third = made.convolution([first, weights, Argument::None], half[1], 1, COLUMNS as i64);
    let third = made.bounded(third, half);
    let sum = made.node("aten.add.Tensor", &half[1], vec![second, third, Argument::Int(1)]);
    made.bounded(sum, half);
    made.program(sum)
}

/// The output for an input of these sizes.
fn output(module: &mut Module, [batch, height, width]: [usize; 3]) -> Result<(Vec<usize>, Vec<u8>), String> {
    let shape = vec![batch, CHANNELS, height, width];
    let bytes = bytes(&numbers(shape.iter().product(), 7));
    let view = TensorView { scalar_type: ScalarType::Float, shape, bytes: &bytes };
    module.set_input(0, &view).and_then(|()| module.execute()).map_err(|error| error.to_string())?;
    let array = module.outputs().map_err(|error| error.to_string())?.arrays.remove("output_0").unwrap();
    Ok((array.shape, array.bytes))
}

#[test]
fn every_size_computes_the_bits_of_its_static_program() {
    let target = this_machine();
    let candidate = candidate(&target, 2);
    let dynamic = compile(program(&BOUNDS), &candidate).unwrap();
    assert!(dynamic.file.windows(4).any(|word| word == b"ETCP"), "the partition is on the backend");
    let mut module = load(&dynamic.file, &candidate).unwrap();
    for sizes in [[1, 70, 90], [2, 41, 90], [4, 70, 36], [3, 32, 33], [1, 70, 90], [4, 70, 90]] {
        let of_size = compile(program(&exactly(sizes)), &candidate).unwrap();
        let mut of_size = load(&of_size.file, &candidate).unwrap();
        assert!(output(&mut module, sizes).unwrap() == output(&mut of_size, sizes).unwrap(), "{sizes:?}");
    }
    for sizes in [[1, 3, 3], [1, 3, 90], [4, 70, 3], [2, 4, 5]] {
        // The static program computes so few pixels by other kernels.
        let (shape, bytes) = output(&mut module, sizes).unwrap();
        let of_size = compile(program(&exactly(sizes)), &candidate).unwrap();
        let expected = output(&mut load(&of_size.file, &candidate).unwrap(), sizes).unwrap();
        assert_eq!(shape, expected.0);
        let floats =
            |bytes: &[u8]| bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect::<Vec<_>>();
        let pairs = floats(&bytes).into_iter().zip(floats(&expected.1));
        let difference = pairs.map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
        assert!(difference < 1e-3, "{sizes:?}: {difference}");
    }
}

#[test]
fn sizes_beyond_the_bounds_are_refused() {
    let target = this_machine();
    let candidate = candidate(&target, 1);
    let mut module = load(&compile(program(&BOUNDS), &candidate).unwrap().file, &candidate).unwrap();
    for sizes in [[5, 70, 90], [1, 71, 90], [1, 70, 91]] {
        assert!(output(&mut module, sizes).is_err(), "{sizes:?}");
    }
}

/// Words of a header, and where it states the numbers of slots, of words of instructions, and of the records behind them.
const HEADER_WORDS: usize = 23;
const COUNTS: [(usize, usize); 5] = [(5, 5), (7, 1), (17, 17), (18, 2), (19, 6)];
const FORMULAS: (usize, usize) = (20, 7);

#[test]
fn damaged_formulas_are_refused_or_compute() {
    let target = this_machine();
    let candidate = candidate(&target, 2);
    let file = compile(program(&BOUNDS), &candidate).unwrap().file;
    let blob = file.windows(4).position(|word| word == b"ETCP").unwrap();
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let section = |(count, size): (usize, usize)| word(blob + 4 * count) as usize * size;
    let shapes = HEADER_WORDS + COUNTS[..2].iter().map(|part| section(*part)).sum::<usize>();
    let end = HEADER_WORDS + COUNTS.iter().map(|part| section(*part)).sum::<usize>() + section(FORMULAS);
    assert!(section(FORMULAS) > 0);
    for at in (17..HEADER_WORDS).chain(shapes..end).map(|word| blob + 4 * word) {
        let value = word(at);
        for edit in [0, 1, 64, 1 << 16, 1 << 31, u32::MAX, value.wrapping_add(1), value.wrapping_sub(1), value << 1] {
            let mut copy = file.clone();
            copy[at..at + 4].copy_from_slice(&edit.to_le_bytes());
            let _ = load(&copy, &candidate).and_then(|mut module| output(&mut module, [2, 9, 11]));
        }
    }
}
