//! Blockwise GEMM against reference loops in `f64`.

mod plain;

use et_gemm::{Activation, BlockFormat, BlockGemm, BlockOperands, Isa, RowScale, Scales, Width, quantize_rows};
use plain::{FORMS, Numbers, activate, available, in_parts, packed};

fn check(isa: Isa, sizes: [usize; 4], activation: Activation, parts: usize) {
    FORMS.iter().for_each(|form| check_form(isa, *form, sizes, activation, parts));
}

fn check_form(
    isa: Isa,
    (width, scales): (Width, Scales),
    [rows, inner, columns, group]: [usize; 4],
    activation: Activation,
    parts: usize,
) {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let real = numbers.floats(rows * inner);
    let weights = plain::weights(&mut numbers, width, columns * inner);
    let form = BlockFormat { group, width, is_biased: rows % 2 == 1, scales };
    let scales = plain::scales(&mut numbers, form, [columns, inner]);
    let bias = if form.is_biased { numbers.floats(columns) } else { Vec::new() };
    let mut input = vec![0; real.len()];
    let mut row_scales = vec![RowScale { scale: 0.0, zero_point: 0 }; rows];
    quantize_rows(isa, &real, inner, &mut input, &mut row_scales).unwrap();
    let product = BlockGemm::new([rows, inner, columns], form, isa).unwrap();
    let packed = packed(product.packed_size(), |packed| product.pack(&weights, &scales, &bias, packed));
    let mut elements = vec![0.0; inner];
    for column in 0..columns {
        product.column(&packed, column, &mut elements).unwrap();
        for (k, &element) in elements.iter().enumerate() {
            let at = column * inner + k;
            assert_eq!(element, f32::from(weights[at]) * scales[at / group], "{isa:?} {column} {k}");
        }
    }
    assert!(product.column(&packed, columns, &mut elements).is_err());
    let operands = BlockOperands { input: &input, row_scales: &row_scales, weights: &packed, activation };
    let needs = (product.grid(), product.scratch_size());
    let memory = in_parts([rows, columns], f32::NAN, needs, parts, |output, block, scratch| {
        product.compute(&operands, output, block, scratch)
    });
    for (index, &value) in memory.iter().enumerate() {
        let (row, column) = (index / columns, index % columns);
        let RowScale { scale, zero_point } = row_scales[row];
        let (mut sum, mut size) = (0.0, 0.0);
        for k in 0..inner {
            let step = f64::from(i32::from(input[row * inner + k]) - zero_point);
            let weight = f64::from(weights[column * inner + k]) * f64::from(scales[(column * inner + k) / group]);
            sum += step * weight * f64::from(scale);
            size += (step.abs() + 256.0) * weight.abs() * f64::from(scale);
        }
        let plain = activate(activation, sum + bias.get(column).copied().map_or(0.0, f64::from));
        let bound = (size + 1.0) * ((inner / group) as f64 + 8.0) * f64::from(f32::EPSILON);
        assert!(
            (f64::from(value) - plain).abs() <= bound,
            "{isa:?} {form:?} {rows} {inner} {columns} {index}: {value} {plain}"
        );
    }
}

#[test]
fn all_rows_agree_with_the_plain_loop() {
    for isa in available() {
        for rows in [0, 1, 2, 5, 6, 7, 13, 32, 41] {
            for sizes in [[32, 1, 32], [64, 17, 32], [128, 33, 64], [128, 64, 128], [0, 5, 32], [40, 7, 8], [96, 9, 32]]
            {
                check(isa, [rows, sizes[0], sizes[1], sizes[2]], Activation::None, 1);
            }
        }
        check(isa, [9, 64, 70, 32], Activation::Gelu, 3);
        check(isa, [1, 64, 70, 32], Activation::RELU, 2);
        check(isa, [80, 96, 70, 32], Activation::Gelu, 3);
    }
}

#[test]
fn groups_that_do_not_divide_are_refused() {
    let product = |group| {
        let form = BlockFormat { group, width: Width::Int4, is_biased: false, scales: Scales::Steps };
        BlockGemm::new([1, 48, 4], form, Isa::Portable)
    };
    assert!(product(16).is_ok());
    assert!([32, 0, 12].into_iter().all(|group| product(group).is_err()));
}

#[test]
fn int8_with_scales_of_steps_are_refused() {
    let form = BlockFormat { group: 32, width: Width::Int8, is_biased: false, scales: Scales::Steps };
    assert!(BlockGemm::new([1, 64, 4], form, Isa::Portable).is_err());
}

#[test]
fn scales_of_steps_take_half_of_what_halves_take_and_a_number_for_each_column() {
    let size = |inner, (width, scales)| {
        let form = BlockFormat { group: 32, width, is_biased: false, scales };
        BlockGemm::new([1, inner, 64], form, Isa::Avx512).unwrap().packed_size()
    };
    let sizes = [4 + 2048 / 2 + 128, 8 + 2048 / 2 + 64, 4 + 2048 + 128, 4 + 2048 / 2 + 256, 4 + 2048 + 256];
    assert_eq!(FORMS.map(|form| size(2048, form)), sizes.map(|size| 64 * size));
    // Scales of two blocks are interleaved, even if the number of blocks is odd.
    assert_eq!(size(96, (Width::Int4, Scales::Steps)), 64 * (8 + 48 + 4));
}

#[test]
fn scales_that_are_no_multiples_of_a_step_are_not_packed_so() {
    let packed = |scales: &[f32]| {
        let form = BlockFormat { group: 8, width: Width::Int4, is_biased: false, scales: Scales::Steps };
        let product = BlockGemm::new([1, 16, 1], form, Isa::Portable).unwrap();
        product.pack(&[0; 16], scales, &[], &mut vec![0; product.packed_size()])
    };
    assert!(packed(&[1.0, 255.0]).is_ok());
    assert!(packed(&[1.5, 255.0]).is_err());
}
