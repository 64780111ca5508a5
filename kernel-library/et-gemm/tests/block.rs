//! Blockwise GEMM against reference loops in `f64`.

mod plain;

use et_gemm::{
    Activation, BlockFormat, BlockGemm, BlockOperands, FloatRows, Isa, Mapping, RowScale, Scales, Width, quantize_rows,
};
use plain::{FORMS, Numbers, activate, available, forms, in_parts, packed};

fn check(isa: Isa, sizes: [usize; 4], activation: Activation, parts: usize) {
    let [rows, inner, columns, group] = sizes;
    for form in forms(group, inner, rows % 2 == 1) {
        check_form(isa, form, [rows, inner, columns, 1], activation, parts);
        for row_blocks in [2, 4].into_iter().filter(|blocks| form.divides_rows(inner, *blocks)) {
            check_form(isa, form, [rows, inner, columns, row_blocks], activation, parts);
        }
    }
}

/// Checks a GEMM whose rows have `row_blocks` qparams each.
fn check_form(
    isa: Isa,
    form: BlockFormat,
    [rows, inner, columns, row_blocks]: [usize; 4],
    activation: Activation,
    parts: usize,
) {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let mut real = numbers.floats(rows * inner);
    // Blocks of a row have different ranges.
    real.iter_mut().enumerate().for_each(|(at, value)| *value *= 1.0 + (at % inner * row_blocks / inner) as f32);
    let weights = plain::weights(&mut numbers, form, columns * inner);
    let [scales, offsets] = plain::scales(&mut numbers, form, [columns, inner]);
    let offset = |at: usize| offsets.get(at / form.group).copied().unwrap_or(0.0);
    let bias = if form.is_biased { numbers.floats(columns) } else { Vec::new() };
    let mut input = vec![0; real.len()];
    let mut row_scales = vec![RowScale { scale: 0.0, zero_point: 0 }; rows * row_blocks];
    let mapping = if row_blocks == 1 { Mapping::Asymmetric } else { Mapping::Symmetric };
    let real_rows = FloatRows { elements: &real, length: inner / row_blocks, mapping };
    quantize_rows(isa, &real_rows, &mut input, &mut row_scales).unwrap();
    let product = BlockGemm::new([rows, inner, columns], form, isa).unwrap();
    let packed = packed(product.packed_size(), |packed| product.pack(&weights, [&scales, &offsets], &bias, packed));
    let mut elements = vec![0.0; inner];
    for column in 0..columns {
        product.column(&packed, column, &mut elements).unwrap();
        for (k, &element) in elements.iter().enumerate() {
            let at = column * inner + k;
            let number = f32::from(weights[at]) * scales[at / form.group] + offset(at);
            assert_eq!(element, number, "{isa:?} {form:?} {column} {k}");
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
        let (mut sum, mut size) = (0.0, 0.0);
        for k in 0..inner {
            let RowScale { scale, zero_point } = row_scales[row * row_blocks + k * row_blocks / inner];
            let step = f64::from(i32::from(input[row * inner + k]) - zero_point);
            let at = column * inner + k;
            let parts = [f64::from(weights[at]) * f64::from(scales[at / form.group]), f64::from(offset(at))];
            sum += step * (parts[0] + parts[1]) * f64::from(scale);
            size += (step.abs() + 256.0) * (parts[0].abs() + parts[1].abs()) * f64::from(scale);
        }
        let plain = activate(activation, sum + bias.get(column).copied().map_or(0.0, f64::from));
        let bound = (size + 1.0) * ((inner / form.group) as f64 + 8.0) * f64::from(f32::EPSILON);
        assert!(
            (f64::from(value) - plain).abs() <= bound,
            "{isa:?} {form:?} {rows} {inner} {columns} {row_blocks} {index}: {value} {plain}"
        );
    }
}

#[test]
fn all_rows_agree_with_the_plain_loop() {
    for isa in available() {
        for rows in [0, 1, 2, 5, 6, 7, 13, 32, 41] {
            for sizes in [
                [32, 1, 32],
                [64, 17, 32],
                [128, 33, 64],
                [128, 64, 128],
                [0, 5, 32],
                [40, 7, 8],
                [96, 9, 32],
                [512, 33, 32],
                [256, 35, 16],
                [512, 9, 64],
                [512, 35, 128],
                [256, 33, 256],
                [256, 9, 8],
            ] {
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
        let form =
            BlockFormat { group, width: Width::Int4, is_biased: false, has_offsets: false, scales: Scales::Steps };
        BlockGemm::new([1, 48, 4], form, Isa::Portable)
    };
    assert!(product(16).is_ok());
    assert!([32, 0, 12].into_iter().all(|group| product(group).is_err()));
}

#[test]
fn formats_without_kernels_are_refused() {
    let product = |width, scales, has_offsets, [inner, group]: [usize; 2]| {
        let form = BlockFormat { group, width, is_biased: false, has_offsets, scales };
        BlockGemm::new([1, inner, 4], form, Isa::Portable)
    };
    assert!(product(Width::Int8, Scales::Steps, false, [64, 32]).is_err());
    assert!(product(Width::Int8, Scales::SuperBlocks, false, [256, 32]).is_err());
    assert!(product(Width::Int6, Scales::Halves, false, [64, 32]).is_err());
    assert!(product(Width::Int4, Scales::Steps, true, [64, 32]).is_err());
    for (sizes, is_made) in [([256, 32], true), ([384, 32], false), ([768, 96], false), ([512, 512], false)] {
        assert_eq!(product(Width::Int4, Scales::SuperBlocks, true, sizes).is_ok(), is_made, "{sizes:?}");
    }
    assert!(product(Width::Int6, Scales::Floats, false, [48, 24]).is_err());
}

#[test]
fn each_format_takes_its_bits() {
    let size = |inner, (width, scales, has_offsets)| {
        let form = BlockFormat { group: 32, width, is_biased: false, has_offsets, scales };
        BlockGemm::new([1, inner, 64], form, Isa::Avx512).unwrap().packed_size()
    };
    let (halves, floats, supers) = (2 * 64, 4 * 64, 8 * (4 + 8));
    let sizes = [
        4 + 1024 + halves,
        8 + 1024 + 64,
        4 + 2048 + halves,
        4 + 1024 + floats,
        4 + 2048 + floats,
        4 + 1024 + supers,
        4 + 1536 + supers,
        4 + 1536 + floats,
        4 + 1024 + 2 * halves,
        4 + 2048 + 2 * halves,
        4 + 1024 + 2 * floats,
        4 + 1536 + 2 * floats,
        4 + 2048 + 2 * floats,
        4 + 1024 + 2 * supers,
        4 + 1536 + 2 * supers,
    ];
    assert_eq!(FORMS.map(|form| size(2048, form)), sizes.map(|size| 64 * size));
    // Scales of two blocks are interleaved, even if the number of blocks is odd.
    assert_eq!(size(96, (Width::Int4, Scales::Steps, false)), 64 * (8 + 48 + 4));
}

#[test]
fn scales_that_are_no_multiples_of_a_step_are_not_packed_so() {
    let packed = |kind: Scales, scales: &[f32]| {
        let group = if kind == Scales::Steps { 8 } else { 128 };
        let form = BlockFormat { group, width: Width::Int4, is_biased: false, has_offsets: false, scales: kind };
        let product = BlockGemm::new([1, 2 * group, 1], form, Isa::Portable).unwrap();
        product.pack(&vec![0; 2 * group], [scales, &[]], &[], &mut vec![0; product.packed_size()])
    };
    assert!(packed(Scales::Steps, &[1.0, 255.0]).is_ok());
    assert!(packed(Scales::Steps, &[1.5, 255.0]).is_err());
    assert!(packed(Scales::SuperBlocks, &[-1.0, 63.0]).is_ok());
    assert!(packed(Scales::SuperBlocks, &[1.5, 200.0]).is_err());
}

#[test]
fn activations_in_blocks_that_divide_a_block_of_weights_are_refused() {
    let refused = |scales: Scales, row_blocks: usize| {
        let form = BlockFormat { group: 128, width: Width::Int4, is_biased: false, has_offsets: false, scales };
        let product = BlockGemm::new([2, 512, 1], form, Isa::Portable).unwrap();
        let (packed, row_scales) =
            (vec![0; product.packed_size()], vec![RowScale { scale: 1.0, zero_point: 0 }; 2 * row_blocks]);
        let operands = BlockOperands {
            input: &[0; 1024],
            row_scales: &row_scales,
            weights: &packed,
            activation: Activation::None,
        };
        let mut output = [0.0; 2];
        let mut output = et_gemm::Output::new(&mut output, 2, 1, 1).unwrap();
        let mut scratch = vec![0; product.scratch_size()];
        product.compute(&operands, &mut output, product.grid().all(), &mut scratch).is_err()
    };
    assert_eq!(
        [0, 1, 2, 3, 4, 8].map(|blocks| refused(Scales::Floats, blocks)),
        [true, false, false, true, false, true]
    );
    assert_eq!([1, 4, 8].map(|blocks| refused(Scales::SuperBlocks, blocks)), [false, false, true]);
}
