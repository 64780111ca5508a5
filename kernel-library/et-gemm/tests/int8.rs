//! int8 GEMM and convolution against reference loops: the same bytes on every ISA.

mod plain;

use et_gemm::{
    Activation, Architecture, Bias, Int8Gemm, Int8Operands, Int8Residual, Isa, Quantization, Residual, RowScale, Shape,
    Weights,
};
use plain::{Numbers, activate, available, in_parts, input_length, packed, products, shapes};

struct Case {
    shape: Shape,
    input: Vec<i8>,
    zero_point: i8,
    weights: Vec<i8>,
    scales: Vec<f32>,
    bias: Vec<i32>,
    residual: Vec<i8>,
    output_zero: i8,
}

impl Case {
    fn new(shape: Shape) -> Self {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        let columns = shape.all_columns();
        let mut weights = numbers.bytes(columns * shape.depth());
        let mut input = numbers.bytes(input_length(&shape));
        // The most negative products, which saturate where instructions add pairs in 16 bits.
        weights.iter_mut().take(40).for_each(|weight| *weight = -128);
        input.iter_mut().take(40).for_each(|element| *element = -128);
        let step = 0.01 / (shape.depth() as f32).sqrt();
        Self {
            scales: (0..columns).map(|_| step * (1.5 + numbers.float())).collect(),
            bias: (0..columns).map(|_| (numbers.bits() % 4000) as i32 - 2000).collect(),
            residual: numbers.bytes(shape.rows() * columns),
            zero_point: -7,
            output_zero: 3,
            shape,
            input,
            weights,
        }
    }

    fn packed(&self, product: &Int8Gemm, bias: Bias<'_>) -> Vec<u8> {
        let weights = Weights::convolution(&self.weights, &self.shape);
        packed(product.packed_size(), |packed| product.pack(&weights, &self.scales, bias, packed))
    }

    fn compute(&self, isa: Isa, after: Option<bool>, parts: usize) -> Vec<i8> {
        let product = Int8Gemm::new(self.shape, isa).unwrap();
        let columns = self.shape.all_columns();
        let weights = self.packed(&product, Bias::Steps(&self.bias));
        let residual =
            |after| Int8Residual::Bytes(Residual { elements: &self.residual, stride: columns, after }, 0.5, 11);
        let operands = Int8Operands {
            input: &self.input,
            zero_point: self.zero_point,
            row_scales: &[],
            weights: &weights,
            activation: if after.is_some() { Activation::RELU } else { Activation::None },
            residual: after.map(residual),
        };
        let quantization = Quantization { inverse_scale: 1.0, zero_point: self.output_zero, least: -100, most: 120 };
        let (sizes, needs) = ([self.shape.rows(), columns], (product.grid(), product.scratch_size()));
        in_parts(sizes, 99, needs, parts, |output, block, scratch| {
            product.compute(&operands, quantization, output, block, scratch)
        })
    }

    fn sum(&self, row: usize, column: usize, zero_point: i32) -> i32 {
        let mut sum = 0i32;
        products(&self.shape, row, column, |place, weight| {
            let step = place.map_or(0, |place| i32::from(self.input[place]) - zero_point);
            sum += step * i32::from(self.weights[weight]);
        });
        sum
    }

    fn plain(&self, row: usize, column: usize, after: Option<bool>) -> i8 {
        let sum = self.sum(row, column, i32::from(self.zero_point)) + self.bias[column];
        let mut value = sum as f32 * self.scales[column];
        let residual = (f32::from(self.residual[row * self.shape.all_columns() + column]) - 11.0) * 0.5;
        match after {
            None => {}
            Some(false) => value = (value + residual).max(0.0),
            Some(true) => value = value.max(0.0) + residual,
        }
        (value.round_ties_even() + f32::from(self.output_zero)).clamp(-100.0, 120.0) as i8
    }

    fn check(&self, isa: Isa, after: Option<bool>) {
        let computed = self.compute(isa, after, 1);
        let columns = self.shape.all_columns();
        for (index, &byte) in computed.iter().enumerate() {
            let plain = self.plain(index / columns, index % columns, after);
            assert_eq!(byte, plain, "{isa:?} {:?} {after:?} {index}", self.shape);
        }
    }
}

#[test]
fn all_rows_agree_with_the_plain_loop() {
    for isa in available() {
        shapes().into_iter().for_each(|shape| Case::new(shape).check(isa, None));
    }
}

#[test]
fn all_instruction_sets_of_an_architecture_read_the_same_packed_weights() {
    for shape in [Shape::product(3, 100, 75), Shape { groups: 3, ..Shape::convolution([9, 9], 3, 40, 3, 2, 1) }] {
        let shape = Shape { pixel_stride: shape.groups * shape.channels, ..shape };
        let case = Case::new(shape);
        for architecture in Architecture::ALL {
            let packed = |isa| case.packed(&Int8Gemm::new(shape, isa).unwrap(), Bias::Steps(&case.bias));
            let first = packed(architecture.baseline());
            architecture.isas().for_each(|isa| assert!(packed(isa) == first, "{isa:?}"));
        }
    }
}

#[test]
fn many_rows_agree_with_the_plain_loop() {
    for isa in available() {
        Case::new(Shape::product(803, 20, 70)).check(isa, Some(true));
        Case::new(Shape::convolution([29, 28], 5, 37, 3, 1, 1)).check(isa, None);
    }
}

#[test]
fn weights_larger_than_a_strip_keeps_agree_with_the_plain_loop() {
    for isa in available() {
        Case::new(Shape::product(40, 1000, 810)).check(isa, None);
        Case::new(Shape { groups: 2, pixel_stride: 240, ..Shape::convolution([4, 4], 120, 380, 3, 1, 1) })
            .check(isa, None);
    }
}

#[test]
fn residuals_agree_with_the_plain_loop() {
    for isa in available() {
        let case = Case::new(Shape::product(37, 40, 45));
        [Some(false), Some(true)].into_iter().for_each(|after| case.check(isa, after));
    }
}

#[test]
fn any_split_gives_the_same_bytes() {
    for isa in available() {
        let case = Case::new(Shape::convolution([13, 13], 6, 100, 3, 1, 1));
        let whole = case.compute(isa, None, 1);
        (2..6).for_each(|parts| assert_eq!(whole, case.compute(isa, None, parts)));
    }
}

#[test]
fn rows_with_scales_give_real_numbers() {
    for isa in available() {
        for shape in [Shape::product(19, 70, 45), Shape::product(1, 33, 40)] {
            let case = Case::new(shape);
            let product = Int8Gemm::new(shape, isa).unwrap();
            let bias: Vec<f32> = case.bias.iter().map(|&bias| bias as f32 * 1e-3).collect();
            let weights = case.packed(&product, Bias::Real(&bias));
            let row_scales: Vec<RowScale> = (0..shape.rows())
                .map(|row| RowScale { scale: 0.5 + row as f32, zero_point: row as i32 * 5 - 40 })
                .collect();
            let operands = Int8Operands {
                input: &case.input,
                zero_point: 0,
                row_scales: &row_scales,
                weights: &weights,
                activation: Activation::Silu,
                residual: None,
            };
            let columns = shape.columns;
            let needs = (product.grid(), product.scratch_size());
            let memory = in_parts([shape.rows(), columns], 0.0, needs, 1, |output, block, scratch| {
                product.compute_floats(&operands, output, block, scratch)
            });
            for (index, &value) in memory.iter().enumerate() {
                let (row, column) = (index / columns, index % columns);
                let sum = f64::from(case.sum(row, column, row_scales[row].zero_point));
                let real = sum * f64::from(case.scales[column]) * f64::from(row_scales[row].scale);
                let plain = activate(Activation::Silu, real + f64::from(bias[column]));
                let bound = 2e-6 * (1.0 + real.abs());
                assert!((f64::from(value) - plain).abs() <= bound, "{isa:?} {index}: {value} {plain}");
            }
        }
    }
}
