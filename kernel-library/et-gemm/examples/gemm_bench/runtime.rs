//! GEMMs with run-time operands: dynamically quantized rows, and attention with two activation matrices.

use crate::suites::{aligned, report};
use crate::{least, peak};
use et_gemm::{
    Activation, Bias, FloatOperands, FloatProduct, Int4Format, Int4Gemm, Int4Operands, Int8Gemm, Int8Operands, Isa,
    Output, RowScale, Scales, Shape, WeightOnlyGemm, WeightOnlyOperands, Weights, quantize_rows,
};

/// A scale that both scale formats represent exactly.
const SCALE: f32 = 255.0 / 16384.0;

/// int4 formats, by the format of the block scales.
const FORMS: [(&str, Scales); 2] = [("int4", Scales::Halves), ("int4 with steps", Scales::Steps)];

/// Linear layers with dynamically quantized rows, by int8 weights and by blockwise int4 weights with blocks of 32.
pub fn linear(isa: Isa) {
    let reading = peak::reading();
    println!("memory is read at {:.1} GB/s", reading / 1e9);
    for [rows, inner, columns] in [[1, 4096, 4096], [1, 4096, 14336], [256, 1024, 1024], [256, 2048, 2048]] {
        let real: Vec<f32> = (0..rows * inner).map(|index| (index % 17) as f32 - 8.0).collect();
        let mut input = vec![0; rows * inner];
        let mut row_scales = vec![RowScale { scale: 0.0, zero_point: 0 }; rows];
        let mut memory = vec![0.0; rows * columns];
        let quantizing = least(|| quantize_rows(isa, &real, inner, &mut input, &mut row_scales).expect("sizes"));
        println!("{rows} x {inner}: rows are quantized in {:.1} us", quantizing * 1e6);
        let operations = 2.0 * (rows * inner * columns) as f64;
        let mut show = |name: &str, size: usize, call: &mut dyn FnMut(&mut Output<'_, f32>)| {
            let time = least(|| call(&mut Output::new(&mut memory, rows, columns, columns).expect("sizes")));
            report(&format!("{name} {rows} {inner}-{columns}"), time, operations / time, peak::byte(isa));
            println!("    weights are read at {:.1} GB/s", size as f64 / time / 1e9);
        };

        let product = Int8Gemm::new(Shape::product(rows, inner, columns), isa).expect("a shape");
        let size = product.packed_size();
        let (mut packed, skip) = aligned(size);
        let weights = vec![3i8; inner * columns];
        let scales = vec![0.01; columns];
        let packed = &mut packed[skip..skip + size];
        product.pack(&Weights::linear(&weights, inner), &scales, Bias::Real(&scales), packed).expect("sizes");
        let mut scratch = vec![0; product.scratch_size()];
        let operands = Int8Operands {
            input: &input,
            zero_point: 0,
            row_scales: &row_scales,
            weights: packed,
            activation: Activation::None,
            residual: None,
        };
        show("int8", size, &mut |output| {
            product.compute_floats(&operands, output, product.grid().all(), &mut scratch).expect("sizes");
        });

        for (name, scales) in FORMS {
            let form = Int4Format { group: 32, is_biased: false, scales };
            let product = Int4Gemm::new([rows, inner, columns], form, isa).expect("a shape");
            let size = product.packed_size();
            let (mut packed, skip) = aligned(size);
            let packed = &mut packed[skip..skip + size];
            product.pack(&weights, &vec![SCALE; columns * inner / 32], &[], packed).expect("sizes");
            let mut scratch = vec![0; product.scratch_size()];
            let weights = &*packed;
            let operands =
                Int4Operands { input: &input, row_scales: &row_scales, weights, activation: Activation::None };
            show(name, size, &mut |output| {
                product.compute(&operands, output, product.grid().all(), &mut scratch).expect("sizes");
            });
        }
    }
}

/// The same linear layers with `f32` rows, by `f32` weights and by weight-only int8 and int4 weights.
pub fn weight_only(isa: Isa) {
    for [rows, inner, columns] in [[1, 4096, 4096], [1, 4096, 14336], [256, 1024, 1024]] {
        let input: Vec<f32> = (0..rows * inner).map(|index| (index % 17) as f32 - 8.0).collect();
        let mut memory = vec![0.0; rows * columns];
        let operations = 2.0 * (rows * inner * columns) as f64;
        let mut show = |name: &str, size: usize, call: &mut dyn FnMut(&mut Output<'_, f32>)| {
            let time = least(|| call(&mut Output::new(&mut memory, rows, columns, columns).expect("sizes")));
            report(&format!("{name} {rows} {inner}-{columns}"), time, operations / time, peak::float(isa));
            println!("    weights are read at {:.1} GB/s", size as f64 / time / 1e9);
        };
        let shape = Shape::product(rows, inner, columns);

        let product = FloatProduct::new(shape, isa).expect("a shape");
        let (mut packed, skip) = aligned(product.packed_size());
        let weights = &mut packed[skip..skip + product.packed_size()];
        product.pack(&Weights::linear(&vec![0.03; inner * columns], inner), &[], weights).expect("sizes");
        let mut scratch = vec![0; product.scratch_size()];
        let operands = FloatOperands { input: &input, weights, activation: Activation::None, residual: None };
        show("float32", operands.weights.len(), &mut |output| {
            product.compute(&operands, output, product.grid().all(), &mut scratch).expect("sizes");
        });

        let packing = Int8Gemm::new(shape, isa).expect("a shape");
        let (mut packed, skip) = aligned(packing.packed_size());
        let bytes = &mut packed[skip..skip + packing.packed_size()];
        let integers = vec![3i8; inner * columns];
        packing.pack(&Weights::linear(&integers, inner), &vec![0.01; columns], Bias::None, bytes).expect("sizes");
        let form = Int4Format { group: 32, is_biased: false, scales: Scales::Steps };
        let packing = Int4Gemm::new([rows, inner, columns], form, isa).expect("a shape");
        let (mut packed, skip) = aligned(packing.packed_size());
        let halves = &mut packed[skip..skip + packing.packed_size()];
        packing.pack(&integers, &vec![SCALE; columns * inner / 32], &[], halves).expect("sizes");
        for (name, weights, product) in [
            ("int8 to float32", bytes, WeightOnlyGemm::bytes([rows, inner, columns], isa)),
            ("int4 to float32", halves, WeightOnlyGemm::halves([rows, inner, columns], form, isa)),
        ] {
            let product = product.expect("a shape");
            let mut scratch = vec![0; product.scratch_size()];
            let operands = WeightOnlyOperands { input: &input, weights, activation: Activation::None };
            show(name, operands.weights.len(), &mut |output| {
                product.compute(&operands, output, product.grid().all(), &mut scratch).expect("sizes");
            });
        }
    }
}

/// The two GEMMs of an attention head; the right-hand matrix is packed in every run.
pub fn attention(isa: Isa) {
    for (name, rows, inner, columns, transposed) in
        [("queries x keys", 197, 64, 197, true), ("scores x values", 197, 197, 64, false)]
    {
        let product = FloatProduct::new(Shape::product(rows, inner, columns), isa).expect("a shape");
        let (left, right) = (vec![0.5; rows * inner], vec![0.25; inner * columns]);
        let size = product.packed_size();
        let (mut packed, skip) = aligned(size);
        let packed = &mut packed[skip..skip + size];
        let weights = if transposed { Weights::linear(&right, inner) } else { Weights::matrix(&right, columns) };
        let packing = least(|| product.pack(&weights, &[], packed).expect("sizes"));
        let operands = FloatOperands { input: &left, weights: packed, activation: Activation::None, residual: None };
        let mut memory = vec![0.0; rows * columns];
        let mut scratch = vec![0; product.scratch_size()];
        let time = least(|| {
            let mut output = Output::new(&mut memory, rows, columns, columns).expect("sizes");
            product.compute(&operands, &mut output, product.grid().all(), &mut scratch).expect("sizes");
        });
        let operations = 2.0 * (rows * inner * columns) as f64;
        report(name, time, operations / time, peak::float(isa));
        println!("    the right matrix is packed in {:.1} us", packing * 1e6);
    }
}
