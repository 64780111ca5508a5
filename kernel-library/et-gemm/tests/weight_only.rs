//! Weight-only int8 and int4 GEMM against reference loops in `f64`.

mod plain;

use et_gemm::{
    Activation, Bias, BlockFormat, BlockGemm, HalfWeights, Halves, Int8Gemm, Isa, Output, Shape, WeightOnlyGemm,
    WeightOnlyOperands, Weights,
};
use plain::{Numbers, activate, available, forms, in_parts};

/// Packed weights, and the dequantized values.
struct Packed {
    product: WeightOnlyGemm,
    bytes: Vec<u8>,
    numbers: Vec<f32>,
    bias: Vec<f32>,
}

fn bytes(isa: Isa, [rows, inner, columns]: [usize; 3]) -> Packed {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let mut weights = numbers.bytes(columns * inner);
    weights.iter_mut().take(2).zip([-128, 127]).for_each(|(weight, end)| *weight = end);
    let scales: Vec<f32> = numbers.floats(columns).into_iter().map(|number| 0.1 + 0.05 * number).collect();
    let bias = if rows % 2 == 1 { numbers.floats(columns) } else { Vec::new() };
    let product = Int8Gemm::new(Shape::product(rows, inner, columns), isa).unwrap();
    let packed_bias = if bias.is_empty() { Bias::None } else { Bias::Real(&bias) };
    let linear = Weights::linear(&weights, inner);
    let packed = plain::packed(product.packed_size(), |packed| product.pack(&linear, &scales, packed_bias, packed));
    let real: Vec<f32> = (0..columns * inner).map(|at| f32::from(weights[at]) * scales[at / inner]).collect();
    let mut elements = vec![0.0; inner];
    for column in 0..columns {
        product.column(&packed, column, &mut elements).unwrap();
        assert_eq!(elements, real[column * inner..][..inner], "{isa:?} {column}");
    }
    assert!(product.column(&packed, columns, &mut elements).is_err());
    let product = WeightOnlyGemm::bytes([rows, inner, columns], isa).unwrap();
    Packed { product, bytes: packed, numbers: real, bias }
}

fn blocks(isa: Isa, form: BlockFormat, [rows, inner, columns]: [usize; 3]) -> Packed {
    let mut numbers = Numbers(0x9abc_def1_1234_5678);
    let weights = plain::weights(&mut numbers, form, columns * inner);
    let [scales, offsets] = plain::scales(&mut numbers, form, [columns, inner]);
    let bias = if form.is_biased { numbers.floats(columns) } else { Vec::new() };
    let product = BlockGemm::new([rows, inner, columns], form, isa).unwrap();
    let packed =
        plain::packed(product.packed_size(), |packed| product.pack(&weights, [&scales, &offsets], &bias, packed));
    let offset = |at: usize| offsets.get(at / form.group).copied().unwrap_or(0.0);
    let real = (0..columns * inner).map(|at| f32::from(weights[at]) * scales[at / form.group] + offset(at)).collect();
    let product = WeightOnlyGemm::blocks([rows, inner, columns], form, isa).unwrap();
    Packed { product, bytes: packed, numbers: real, bias }
}

fn halves(isa: Isa, kind: Halves, [rows, inner, columns]: [usize; 3]) -> Packed {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let cut = |number: f32| match kind {
        Halves::Fp16 => et_core::Half::from_f32(number).to_f32(),
        Halves::Bf16 => f32::from_bits(number.to_bits() & 0xffff_0000),
    };
    let weights: Vec<f32> = numbers.floats(columns * inner).into_iter().map(cut).collect();
    let bias = if rows % 2 == 1 { numbers.floats(columns) } else { Vec::new() };
    let product = HalfWeights::new([inner, columns], kind, isa).unwrap();
    let packed = plain::packed(product.packed_size(), |packed| product.pack(&weights, &bias, packed));
    let mut elements = vec![0.0; inner];
    for column in 0..columns {
        product.column(&packed, column, &mut elements).unwrap();
        assert_eq!(elements, weights[column * inner..][..inner], "{isa:?} {column}");
    }
    assert!(product.column(&packed, columns, &mut elements).is_err());
    let product = WeightOnlyGemm::halves([rows, inner, columns], kind, isa).unwrap();
    Packed { product, bytes: packed, numbers: weights, bias }
}

fn check(isa: Isa, [rows, inner, columns]: [usize; 3], packed: &Packed, activation: Activation, parts: usize) {
    let input = Numbers(0xdef1_1234_5678_9abc).floats(rows * inner);
    let operands = WeightOnlyOperands { input: &input, weights: &packed.bytes, activation };
    let needs = (packed.product.grid(), packed.product.scratch_size());
    let memory = in_parts([rows, columns], f32::NAN, needs, parts, |output, block, scratch| {
        packed.product.compute(&operands, output, block, scratch)
    });
    for (index, &value) in memory.iter().enumerate() {
        let (row, column) = (index / columns, index % columns);
        let pairs = input[row * inner..][..inner].iter().zip(&packed.numbers[column * inner..]);
        let (mut sum, mut size) = (0.0, 1.0);
        for (number, weight) in pairs {
            sum += f64::from(*number) * f64::from(*weight);
            // Without FMA the product is rounded too, so that the error is relative to the largest quantized weight of
            // the scale.
            size += f64::from(*number).abs() * (f64::from(*weight).abs() + 20.0);
        }
        let plain = activate(activation, sum + packed.bias.get(column).copied().map_or(0.0, f64::from));
        let bound = size * 16.0 * f64::from(f32::EPSILON);
        assert!((f64::from(value) - plain).abs() <= bound, "{isa:?} {rows} {inner} {columns} {index}: {value} {plain}");
    }
}

#[test]
fn products_are_those_of_the_numbers_that_integers_stand_for() {
    for isa in available() {
        for rows in [0, 1, 2, 7, 15, 41] {
            for [inner, columns] in [[32, 1], [7, 17], [129, 33], [260, 64], [0, 5], [128, 70]] {
                let sizes = [rows, inner, columns];
                check(isa, sizes, &bytes(isa, sizes), Activation::None, 1);
                for kind in Halves::ALL {
                    check(isa, sizes, &halves(isa, kind, sizes), Activation::None, 1);
                }
            }
            for [inner, columns, group] in [
                [32, 1, 32],
                [64, 17, 32],
                [192, 33, 64],
                [384, 70, 128],
                [40, 5, 8],
                [520, 9, 520],
                [512, 17, 16],
                [512, 9, 64],
                [256, 9, 256],
            ] {
                for form in forms(group, inner, rows % 2 == 1) {
                    let packed = blocks(isa, form, [rows, inner, columns]);
                    check(isa, [rows, inner, columns], &packed, Activation::None, 1);
                }
            }
        }
        for (rows, activation, parts) in [(9, Activation::Gelu, 3), (1, Activation::RELU, 2), (33, Activation::Silu, 2)]
        {
            let sizes = [rows, 264, 70];
            check(isa, sizes, &bytes(isa, sizes), activation, parts);
            check(isa, sizes, &halves(isa, Halves::Bf16, sizes), activation, parts);
            for form in forms(8, 264, rows % 2 == 1) {
                check(isa, sizes, &blocks(isa, form, sizes), activation, parts);
            }
        }
    }
}

#[test]
fn operands_of_other_sizes_are_refused() {
    let packed = bytes(Isa::detect(), [2, 8, 4]);
    let (mut memory, mut scratch) = ([0.0; 8], vec![0; packed.product.scratch_size()]);
    let mut output = Output::new(&mut memory, 2, 4, 4).unwrap();
    let all = packed.product.grid().all();
    for (numbers, weights) in [(15, 0), (16, 1)] {
        let operands = WeightOnlyOperands {
            input: &[0.0; 16][..numbers],
            weights: &packed.bytes[weights..],
            activation: Activation::None,
        };
        assert!(packed.product.compute(&operands, &mut output, all, &mut scratch).is_err());
    }
}

#[test]
fn numbers_of_more_bits_are_not_packed() {
    for kind in Halves::ALL {
        let product = HalfWeights::new([2, 1], kind, Isa::Portable).unwrap();
        let mut packed = vec![0; product.packed_size()];
        assert!(product.pack(&[1.0, 0.1], &[], &mut packed).is_err());
        assert!(product.pack(&[1.0, 0.5], &[], &mut packed).is_ok());
    }
}

#[test]
fn few_rows_of_16_bit_weights_have_the_bits_that_each_has_alone() {
    let (inner, columns) = (301, 70);
    for isa in available() {
        for kind in Halves::ALL {
            let (many, one) = (halves(isa, kind, [8, inner, columns]), halves(isa, kind, [2, inner, columns]));
            let input = Numbers(0xdef1_1234_5678_9abc).floats(8 * inner);
            let computed = |packed: &Packed, rows: usize, input: &[f32]| {
                let product = WeightOnlyGemm::halves([rows, inner, columns], kind, isa).unwrap();
                let operands = WeightOnlyOperands { input, weights: &packed.bytes, activation: Activation::None };
                let needs = (product.grid(), product.scratch_size());
                in_parts([rows, columns], f32::NAN, needs, 1, |output, block, scratch| {
                    product.compute(&operands, output, block, scratch)
                })
            };
            let all = computed(&many, 8, &input);
            for (row, expected) in all.chunks_exact(columns).enumerate() {
                assert_eq!(computed(&one, 1, &input[row * inner..][..inner]), expected, "{isa:?} {kind:?} {row}");
            }
        }
    }
}
