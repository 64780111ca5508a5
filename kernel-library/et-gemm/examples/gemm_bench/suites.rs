//! Layer shapes of the four models, and the measured rates.

use crate::{least, peak};
use et_gemm::{
    Activation, Bias, FloatOperands, FloatProduct, Int8Gemm, Int8Operands, Isa, Output, Quantization, Shape, Weights,
};

/// Names and shapes of the layers.
fn layers() -> Vec<(&'static str, Shape)> {
    let convolution = Shape::convolution;
    let product = Shape::product;
    vec![
        ("resnet50 conv1 7x7/2", convolution([224, 224], 3, 64, 7, 2, 3)),
        ("resnet50 56 64-64 1x1", convolution([56, 56], 64, 64, 1, 1, 0)),
        ("resnet50 56 64-64 3x3", convolution([56, 56], 64, 64, 3, 1, 1)),
        ("resnet50 56 64-256", convolution([56, 56], 64, 256, 1, 1, 0)),
        ("resnet50 56 256-64", convolution([56, 56], 256, 64, 1, 1, 0)),
        ("resnet50 56 256-128", convolution([56, 56], 256, 128, 1, 1, 0)),
        ("resnet50 56 128 3x3/2", convolution([56, 56], 128, 128, 3, 2, 1)),
        ("resnet50 28 128 3x3", convolution([28, 28], 128, 128, 3, 1, 1)),
        ("resnet50 28 128-512", convolution([28, 28], 128, 512, 1, 1, 0)),
        ("resnet50 28 512-128", convolution([28, 28], 512, 128, 1, 1, 0)),
        ("resnet50 14 256 3x3", convolution([14, 14], 256, 256, 3, 1, 1)),
        ("resnet50 14 256-1024", convolution([14, 14], 256, 1024, 1, 1, 0)),
        ("resnet50 14 1024-256", convolution([14, 14], 1024, 256, 1, 1, 0)),
        ("resnet50 7 512 3x3", convolution([7, 7], 512, 512, 3, 1, 1)),
        ("resnet50 7 512-2048", convolution([7, 7], 512, 2048, 1, 1, 0)),
        ("resnet50 7 2048-512", convolution([7, 7], 2048, 512, 1, 1, 0)),
        ("resnet50 fc", product(1, 2048, 1000)),
        ("vit patch 16x16/16", convolution([224, 224], 3, 768, 16, 16, 0)),
        ("vit 197 768-768", product(197, 768, 768)),
        ("vit 197 768-2304", product(197, 768, 2304)),
        ("vit 197 768-3072", product(197, 768, 3072)),
        ("vit 197 3072-768", product(197, 3072, 768)),
        ("mv3 first 3x3/2", convolution([224, 224], 3, 16, 3, 2, 1)),
        ("mv3 56 16-72", product(3136, 16, 72)),
        ("mv3 28 72-24", product(784, 72, 24)),
        ("mv3 28 24-88", product(784, 24, 88)),
        ("mv3 14 96-40", product(196, 96, 40)),
        ("mv3 14 40-240", product(196, 40, 240)),
        ("mv3 14 240-40", product(196, 240, 40)),
        ("mv3 14 48-144", product(196, 48, 144)),
        ("mv3 7 96-576", product(49, 96, 576)),
        ("mv3 7 576-96", product(49, 576, 96)),
        ("mv3 fc 576-1024", product(1, 576, 1024)),
        ("swin patch 4x4/4", convolution([224, 224], 3, 96, 4, 4, 0)),
        ("swin 3136 96-288", product(3136, 96, 288)),
        ("swin 3136 96-96", product(3136, 96, 96)),
        ("swin 3136 96-384", product(3136, 96, 384)),
        ("swin 3136 384-96", product(3136, 384, 96)),
        ("swin 784 384-192", product(784, 384, 192)),
        ("swin 784 192-768", product(784, 192, 768)),
        ("swin 784 768-192", product(784, 768, 192)),
        ("swin 196 384-1152", product(196, 384, 1152)),
        ("swin 196 384-1536", product(196, 384, 1536)),
        ("swin 196 1536-384", product(196, 1536, 384)),
        ("swin 49 768-3072", product(49, 768, 3072)),
        ("swin 49 3072-768", product(49, 3072, 768)),
    ]
}

/// The layers whose names contain the third argument, or every layer without the argument.
fn chosen() -> Vec<(&'static str, Shape)> {
    let part = std::env::args().nth(3).unwrap_or_default();
    layers().into_iter().filter(|(name, _)| name.contains(&part)).collect()
}

/// Operations of a GEMM: two per multiply-add.
fn operations(shape: &Shape) -> f64 {
    2.0 * shape.rows() as f64 * shape.all_columns() as f64 * shape.depth() as f64
}

/// Elements of an input.
fn input_length(shape: &Shape) -> usize {
    shape.batch * shape.input[0] * shape.input[1] * shape.pixel_stride
}

/// Bytes that start on a cache line, as packed weights in a file do.
pub fn aligned(size: usize) -> (Vec<u8>, usize) {
    let bytes = vec![0u8; size + 64];
    let skip = bytes.as_ptr().addr().wrapping_neg() % 64;
    (bytes, skip)
}

/// `f32` GEMMs.
pub fn float(isa: Isa) {
    let mut fractions = Vec::new();
    for (name, shape) in chosen() {
        let product = FloatProduct::new(shape, isa).expect("a shape of a layer");
        let size = product.packed_size();
        let (mut packed, skip) = aligned(size);
        let weights = vec![0.01; shape.all_columns() * shape.depth()];
        product.pack(&Weights::convolution(&weights, &shape), &[], &mut packed[skip..skip + size]).expect("sizes");
        let input = vec![0.5; input_length(&shape)];
        let (rows, columns) = (shape.rows(), shape.all_columns());
        let mut memory = vec![0.0; rows * columns];
        let mut scratch = vec![0; product.scratch_size()];
        let weights = &packed[skip..skip + size];
        let operands = FloatOperands { input: &input, weights, activation: Activation::RELU, residual: None };
        let before = peak::float(isa);
        let time = least(|| {
            let mut output = Output::new(&mut memory, rows, columns, columns).expect("sizes");
            product.compute(&operands, &mut output, product.grid().all(), &mut scratch).expect("sizes");
        });
        let rate = operations(&shape) / time;
        let peak = before.max(peak::float(isa));
        fractions.push((rate / peak, operations(&shape)));
        report(name, time, rate, peak);
    }
    summary(&fractions);
}

pub fn report(name: &str, time: f64, rate: f64, peak: f64) {
    println!(
        "{name:24} {:9.1} us {:8.1} G/s of {:8.1} {:5.1} %",
        time * 1e6,
        rate / 1e9,
        peak / 1e9,
        100.0 * rate / peak
    );
}

fn summary(fractions: &[(f64, f64)]) {
    let above = fractions.iter().filter(|(fraction, _)| *fraction >= 0.85).count();
    let work: f64 = fractions.iter().map(|(_, operations)| operations).sum();
    let time: f64 = fractions.iter().map(|(fraction, operations)| operations / fraction).sum();
    println!(
        "{above} of {} at 85 % or more; {:.1} % of peak over all operations",
        fractions.len(),
        100.0 * work / time
    );
}

/// int8 GEMMs.
pub fn byte(isa: Isa) {
    let mut fractions = Vec::new();
    for (name, shape) in chosen() {
        let product = Int8Gemm::new(shape, isa).expect("a shape of a layer");
        let size = product.packed_size();
        let (mut packed, skip) = aligned(size);
        let weights = vec![3i8; shape.all_columns() * shape.depth()];
        let scales = vec![0.001; shape.all_columns()];
        let weights = Weights::convolution(&weights, &shape);
        product.pack(&weights, &scales, Bias::None, &mut packed[skip..skip + size]).expect("sizes");
        let input = vec![5i8; input_length(&shape)];
        let (rows, columns) = (shape.rows(), shape.all_columns());
        let mut memory = vec![0i8; rows * columns];
        let mut scratch = vec![0; product.scratch_size()];
        let operands = Int8Operands {
            input: &input,
            zero_point: 3,
            row_scales: &[],
            weights: &packed[skip..skip + size],
            activation: Activation::None,
            residual: None,
        };
        let quantization = Quantization { inverse_scale: 1.0, zero_point: -4, least: -128, most: 127 };
        let before = peak::byte(isa);
        let time = least(|| {
            let mut output = Output::new(&mut memory, rows, columns, columns).expect("sizes");
            product.compute(&operands, quantization, &mut output, product.grid().all(), &mut scratch).expect("sizes");
        });
        let rate = operations(&shape) / time;
        let peak = before.max(peak::byte(isa));
        fractions.push((rate / peak, operations(&shape)));
        report(name, time, rate, peak);
    }
    summary(&fractions);
}
