//! What is measured: GEMMs of each kind, and the packing and quantization that run with some GEMMs.

use et_gemm::{
    Activation, Bias, BlockFormat, BlockGemm, BlockOperands, FloatOperands, FloatProduct, FloatRows, HalfWeights,
    Halves, Int8Gemm, Int8Operands, Isa, Mapping, Output, Quantization, RowScale, Scales, Shape, WeightOnlyGemm,
    WeightOnlyOperands, Weights, Width, quantize_rows,
};

/// The type of weights in blocks, the format of the scales, and whether blocks have offsets.
pub type Kind = (Width, Scales, bool);

/// A scale that every format of block scales represents exactly.
const SCALE: f32 = 255.0 / 16384.0;

/// A call to measure.
pub struct Product {
    /// Operations of a call: two per multiply-add, or 0 for a call that is no GEMM.
    pub operations: f64,
    /// Bytes of weights or rows that a call reads.
    pub bytes: usize,
    /// The call.
    pub run: Box<dyn FnMut()>,
}

impl Product {
    /// A GEMM.
    fn new(shape: &Shape, weights: usize, run: impl FnMut() + 'static) -> Self {
        let operations = 2.0 * (shape.rows() * shape.all_columns() * shape.depth()) as f64;
        Self { operations, bytes: weights, run: Box::new(run) }
    }
}

/// Packed weights, which start on a cache line, as in a file.
struct Packed {
    memory: Vec<u8>,
    start: usize,
}

impl Packed {
    fn new<E: core::fmt::Debug>(size: usize, pack: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Self {
        let mut memory = vec![0; size + 64];
        let start = memory.as_ptr().align_offset(64);
        memory.truncate(start + size);
        pack(&mut memory[start..]).expect("sizes");
        Self { memory, start }
    }

    fn bytes(&self) -> &[u8] {
        &self.memory[self.start..]
    }
}

/// `f32` weights.
pub fn float(isa: Isa, shape: Shape) -> Product {
    let gemm = FloatProduct::new(shape, isa).expect("a shape");
    let weights = vec![0.01; shape.all_columns() * shape.depth()];
    let packed =
        Packed::new(gemm.packed_size(), |packed| gemm.pack(&Weights::convolution(&weights, &shape), &[], packed));
    let (input, mut scratch) = (vec![0.5; input_length(&shape)], vec![0; gemm.scratch_size()]);
    let mut memory = vec![0.0; output_length(&shape)];
    Product::new(&shape, gemm.packed_size(), move || {
        let weights = packed.bytes();
        let operands = FloatOperands { input: &input, weights, activation: Activation::RELU, residual: None };
        let mut output = output(&mut memory, &shape);
        gemm.compute(&operands, &mut output, gemm.grid().all(), &mut scratch).expect("sizes");
    })
}

/// Packs `f32` weights at run time, as the right-hand matrix of an attention GEMM is.
pub fn pack(isa: Isa, shape: Shape) -> Product {
    let gemm = FloatProduct::new(shape, isa).expect("a shape");
    let weights = vec![0.25; shape.columns * shape.depth()];
    let mut packed = vec![0; gemm.packed_size()];
    let run = move || gemm.pack(&Weights::matrix(&weights, shape.columns), &[], &mut packed).expect("sizes");
    Product { operations: 0.0, bytes: 4 * shape.columns * shape.depth(), run: Box::new(run) }
}

/// Quantizes `f32` rows at run time.
pub fn quantize(isa: Isa, shape: Shape) -> Product {
    quantizing(isa, shape, (shape.channels, Mapping::Asymmetric))
}

/// Quantizes blocks of `f32` rows at run time.
pub fn quantize_blocks(isa: Isa, shape: Shape) -> Product {
    quantizing(isa, shape, (ROW_BLOCK, Mapping::Symmetric))
}

fn quantizing(isa: Isa, shape: Shape, (length, mapping): (usize, Mapping)) -> Product {
    let real = rows(&shape);
    let (mut bytes, mut scales) = (vec![0; real.len()], vec![UNIT; real.len() / length]);
    let size = 4 * real.len();
    let run = move || {
        quantize_rows(isa, &FloatRows { elements: &real, length, mapping }, &mut bytes, &mut scales).expect("sizes")
    };
    Product { operations: 0.0, bytes: size, run: Box::new(run) }
}

/// int8 activations of static scale, and int8 output.
pub fn int8(isa: Isa, shape: Shape) -> Product {
    let (gemm, packed) = packed_int8(isa, shape, Bias::None);
    let (input, mut scratch) = (vec![5i8; input_length(&shape)], vec![0; gemm.scratch_size()]);
    let mut memory = vec![0i8; output_length(&shape)];
    let quantization = Quantization { inverse_scale: 1.0, zero_point: -4, least: -128, most: 127 };
    Product::new(&shape, gemm.packed_size(), move || {
        let operands = int8_operands(&input, &[], packed.bytes());
        let mut output = output(&mut memory, &shape);
        gemm.compute(&operands, quantization, &mut output, gemm.grid().all(), &mut scratch).expect("sizes");
    })
}

/// Dynamically quantized int8 rows, and `f32` output.
pub fn dynamic_int8(isa: Isa, shape: Shape) -> Product {
    let (gemm, packed) = packed_int8(isa, shape, Bias::Real(&vec![0.01; shape.columns]));
    let by_row = (shape.channels, Mapping::Asymmetric);
    let (input, row_scales, mut scratch) = quantized(isa, &shape, by_row, gemm.scratch_size());
    let mut memory = vec![0.0; output_length(&shape)];
    Product::new(&shape, gemm.packed_size(), move || {
        let operands = int8_operands(&input, &row_scales, packed.bytes());
        let mut output = output(&mut memory, &shape);
        gemm.compute_floats(&operands, &mut output, gemm.grid().all(), &mut scratch).expect("sizes");
    })
}

/// Activations whose block has a scale.
const ROW_BLOCK: usize = 32;

/// Int8 rows, dynamically quantized in blocks, and weights in blocks.
pub fn blocks(isa: Isa, shape: Shape, kind: Kind) -> Product {
    let (gemm, packed) = packed_blocks(isa, shape, form(kind));
    let quantizing = (ROW_BLOCK, Mapping::Symmetric);
    let (input, row_scales, mut scratch) = quantized(isa, &shape, quantizing, gemm.scratch_size());
    let mut memory = vec![0.0; output_length(&shape)];
    Product::new(&shape, gemm.packed_size(), move || {
        let (weights, activation) = (packed.bytes(), Activation::None);
        let operands = BlockOperands { input: &input, row_scales: &row_scales, weights, activation };
        let mut output = output(&mut memory, &shape);
        gemm.compute(&operands, &mut output, gemm.grid().all(), &mut scratch).expect("sizes");
    })
}

/// `f32` rows and int8 weights.
pub fn weight_only_int8(isa: Isa, shape: Shape) -> Product {
    let gemm = WeightOnlyGemm::bytes([shape.rows(), shape.channels, shape.columns], isa).expect("a shape");
    weight_only(gemm, shape, packed_int8(isa, shape, Bias::None).1)
}

/// `f32` rows and 16-bit weights.
pub fn weight_only_halves(isa: Isa, shape: Shape, kind: Halves) -> Product {
    let sizes = [shape.rows(), shape.channels, shape.columns];
    let gemm = WeightOnlyGemm::halves(sizes, kind, isa).expect("a shape");
    let weights = HalfWeights::new([shape.channels, shape.columns], kind, isa).expect("a shape");
    let numbers = vec![0.25; shape.channels * shape.columns];
    weight_only(gemm, shape, Packed::new(weights.packed_size(), |packed| weights.pack(&numbers, &[], packed)))
}

/// `f32` rows and weights in blocks.
pub fn weight_only_blocks(isa: Isa, shape: Shape, kind: Kind) -> Product {
    let sizes = [shape.rows(), shape.channels, shape.columns];
    let gemm = WeightOnlyGemm::blocks(sizes, form(kind), isa).expect("a shape");
    weight_only(gemm, shape, packed_blocks(isa, shape, form(kind)).1)
}

fn weight_only(gemm: WeightOnlyGemm, shape: Shape, packed: Packed) -> Product {
    let (input, mut scratch) = (rows(&shape), vec![0; gemm.scratch_size()]);
    let mut memory = vec![0.0; output_length(&shape)];
    Product::new(&shape, packed.bytes().len(), move || {
        let operands = WeightOnlyOperands { input: &input, weights: packed.bytes(), activation: Activation::None };
        let mut output = output(&mut memory, &shape);
        gemm.compute(&operands, &mut output, gemm.grid().all(), &mut scratch).expect("sizes");
    })
}

fn packed_int8(isa: Isa, shape: Shape, bias: Bias<'_>) -> (Int8Gemm, Packed) {
    let gemm = Int8Gemm::new(shape, isa).expect("a shape");
    let weights = vec![3; shape.all_columns() * shape.depth()];
    let (weights, scales) = (Weights::convolution(&weights, &shape), vec![0.001; shape.all_columns()]);
    let packed = Packed::new(gemm.packed_size(), |packed| gemm.pack(&weights, &scales, bias, packed));
    (gemm, packed)
}

fn int8_operands<'a>(input: &'a [i8], row_scales: &'a [RowScale], weights: &'a [u8]) -> Int8Operands<'a> {
    let zero_point = if row_scales.is_empty() { 3 } else { 0 };
    Int8Operands { input, zero_point, row_scales, weights, activation: Activation::None, residual: None }
}

/// Weights of a format: blocks of 32, and of 16 where super-blocks have no offsets, as `Q4_K` and `Q6_K` have.
const fn form((width, scales, has_offsets): Kind) -> BlockFormat {
    let group = if matches!(scales, Scales::SuperBlocks) && !has_offsets { 16 } else { 32 };
    BlockFormat { group, width, is_biased: false, has_offsets, scales }
}

fn packed_blocks(isa: Isa, shape: Shape, form: BlockFormat) -> (BlockGemm, Packed) {
    let (inner, columns) = (shape.channels, shape.columns);
    let gemm = BlockGemm::new([shape.rows(), inner, columns], form, isa).expect("a shape");
    let (weights, scales) = (vec![3; inner * columns], vec![SCALE; inner * columns / form.group]);
    let offsets = if form.has_offsets { &scales[..] } else { &[] };
    let packed = Packed::new(gemm.packed_size(), |packed| gemm.pack(&weights, [&scales, offsets], &[], packed));
    (gemm, packed)
}

/// A row scale before quantization.
const UNIT: RowScale = RowScale { scale: 1.0, zero_point: 0 };

/// Rows of a linear layer.
fn rows(shape: &Shape) -> Vec<f32> {
    (0..input_length(shape)).map(|index| (index % 17) as f32 - 8.0).collect()
}

/// Rows of a linear layer, quantized in blocks of `length`, and scratch memory.
fn quantized(
    isa: Isa,
    shape: &Shape,
    (length, mapping): (usize, Mapping),
    scratch: usize,
) -> (Vec<i8>, Vec<RowScale>, Vec<u8>) {
    let count = input_length(shape);
    let (mut bytes, mut scales) = (vec![0; count], vec![UNIT; count / length]);
    quantize_rows(isa, &FloatRows { elements: &rows(shape), length, mapping }, &mut bytes, &mut scales).expect("sizes");
    (bytes, scales, vec![0; scratch])
}

const fn input_length(shape: &Shape) -> usize {
    shape.batch * shape.input[0] * shape.input[1] * shape.pixel_stride
}

const fn output_length(shape: &Shape) -> usize {
    shape.rows() * shape.all_columns()
}

fn output<'a, T: Copy>(memory: &'a mut [T], shape: &Shape) -> Output<'a, T> {
    Output::new(memory, shape.rows(), shape.all_columns(), shape.all_columns()).expect("sizes")
}
