//! `f32` GEMM and convolution against reference loops in `f64`.

mod plain;

use et_gemm::{Activation, FloatOperands, FloatProduct, Isa, KERNELS, Output, Residual, Shape, Weights, float_column};
use plain::{Numbers, activate, available, in_parts, input_length, packed, products, shapes};

#[derive(Clone)]
struct Case {
    shape: Shape,
    input: Vec<f32>,
    weights: Vec<f32>,
    bias: Vec<f32>,
    residual: Vec<f32>,
}

impl Case {
    fn new(shape: Shape) -> Self {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        let columns = shape.all_columns();
        Self {
            input: numbers.floats(input_length(&shape)),
            weights: numbers.floats(columns * shape.depth()),
            bias: numbers.floats(columns),
            residual: numbers.floats(shape.rows() * columns),
            shape,
        }
    }

    fn compute(&self, isa: Isa, activation: Activation, after: Option<bool>, parts: usize) -> Vec<f32> {
        let product = FloatProduct::new(self.shape, isa).unwrap();
        let weights = Weights::convolution(&self.weights, &self.shape);
        let weights = packed(product.packed_size(), |packed| product.pack(&weights, &self.bias, packed));
        let columns = self.shape.all_columns();
        let residual = after.map(|after| Residual { elements: &self.residual, stride: columns, after });
        let operands = FloatOperands { input: &self.input, weights: &weights, activation, residual };
        let (sizes, needs) = ([self.shape.rows(), columns], (product.grid(), product.scratch_size()));
        in_parts(sizes, f32::NAN, needs, parts, |output, block, scratch| {
            product.compute(&operands, output, block, scratch)
        })
    }

    /// The element in `f64`, and the sum of the magnitudes that were added.
    fn plain(&self, row: usize, column: usize, activation: Activation, after: Option<bool>) -> (f64, f64) {
        let mut sum = f64::from(self.bias[column]);
        let mut size = sum.abs();
        products(&self.shape, row, column, |place, weight| {
            let product = place.map_or(0.0, |place| f64::from(self.input[place]) * f64::from(self.weights[weight]));
            sum += product;
            size += product.abs();
        });
        let residual = f64::from(self.residual[row * self.shape.all_columns() + column]);
        let value = match after {
            None => activate(activation, sum),
            Some(false) => activate(activation, sum + residual),
            Some(true) => activate(activation, sum) + residual,
        };
        (value, size + residual.abs())
    }

    fn check(&self, isa: Isa, activation: Activation, after: Option<bool>) {
        let computed = self.compute(isa, activation, after, 1);
        let columns = self.shape.all_columns();
        for (index, &value) in computed.iter().enumerate() {
            let (plain, size) = self.plain(index / columns, index % columns, activation, after);
            let bound = (size + 1.0) * (self.shape.depth() as f64 + 8.0) * f64::from(f32::EPSILON);
            let error = (f64::from(value) - plain).abs();
            assert!(error <= bound, "{isa:?} {:?} {activation:?} {after:?} {index}: {value} {plain}", self.shape);
        }
    }
}

#[test]
fn all_rows_agree_with_the_plain_loop() {
    for isa in available() {
        shapes().into_iter().for_each(|shape| Case::new(shape).check(isa, Activation::None, None));
    }
}

#[test]
fn weights_larger_than_a_strip_keeps_agree_with_the_plain_loop() {
    for isa in available() {
        Case::new(Shape::product(40, 700, 300)).check(isa, Activation::None, None);
        Case::new(Shape::convolution([5, 6], 100, 250, 3, 1, 1)).check(isa, Activation::HardSwish, Some(true));
    }
}

#[test]
fn transformed_windows_agree_with_the_plain_loop() {
    let padded = |input, channels, columns| Shape::convolution(input, channels, columns, 3, 1, 1);
    let wide = Shape { pixel_stride: 60, batch: 2, ..padded([13, 12], 50, 49) };
    for isa in available() {
        for shape in [padded([13, 14], 48, 50), Shape::convolution([15, 16], 65, 64, 3, 1, 0), wide] {
            let case = Case::new(shape);
            case.check(isa, Activation::RELU, Some(false));
            case.check(isa, Activation::Clamp(-0.5, 0.75), Some(true));
            case.check(isa, Activation::HardSwish, Some(true));
            case.check(isa, Activation::Silu, Some(false));
        }
    }
}

#[test]
fn activations_and_residuals_agree_with_the_plain_loop() {
    let activations = [
        Activation::None,
        Activation::RELU,
        Activation::Clamp(-0.5, 0.75),
        Activation::HardSwish,
        Activation::HardSigmoid,
        Activation::Gelu,
        Activation::GeluTanh,
        Activation::Silu,
        Activation::Sigmoid,
    ];
    for isa in available() {
        for shape in [Shape::product(17, 40, 45), Shape::product(1, 5, 32)] {
            let case = Case::new(shape);
            for activation in activations {
                [None, Some(false), Some(true)].into_iter().for_each(|after| case.check(isa, activation, after));
            }
        }
    }
}

#[test]
fn any_split_gives_the_same_bits() {
    for isa in available() {
        for shape in [
            Shape::product(60, 50, 200),
            Shape::convolution([9, 9], 3, 70, 3, 2, 1),
            Shape::convolution([14, 13], 48, 48, 3, 1, 1),
        ] {
            let case = Case::new(shape);
            let bits = |parts| case.compute(isa, Activation::Silu, None, parts).into_iter().map(f32::to_bits).collect();
            let whole: Vec<u32> = bits(1);
            (2..6).for_each(|parts| assert_eq!(whole, bits(parts)));
        }
    }
}

#[test]
fn few_rows_have_the_bits_that_each_has_alone() {
    for isa in available() {
        for rows in 2..=8 {
            let (inner, columns) = (39, 101);
            let case = Case::new(Shape::product(rows, inner, columns));
            let bits = |case: &Case, parts| {
                let computed = case.compute(isa, Activation::Silu, None, parts).into_iter();
                computed.map(f32::to_bits).collect::<Vec<_>>()
            };
            let alone = (0..rows).flat_map(|row| {
                let input = case.input[row * inner..(row + 1) * inner].to_vec();
                let (weights, bias) = (case.weights.clone(), case.bias.clone());
                bits(&Case { shape: Shape::product(1, inner, columns), input, weights, bias, residual: vec![] }, 1)
            });
            let alone: Vec<u32> = alone.collect();
            assert!(bits(&case, 1) == alone && bits(&case, 3) == alone, "{isa:?}: {rows} rows");
        }
    }
}

#[test]
fn images_may_lie_in_planes() {
    let shapes = [
        ([8, 56], 3, 20, 3, 2, 1),
        ([5, 30], 3, 40, 3, 1, 0),
        ([23, 21], 3, 20, 7, 2, 3),
        ([6, 9], 2, 7, 1, 2, 0),
        // Tiles at the left and right border, and contiguous receptive fields.
        ([5, 28], 3, 20, 3, 1, 1),
        ([8, 56], 3, 20, 2, 2, 1),
        ([4, 84], 2, 20, 5, 2, 2),
    ];
    for (input, channels, columns, kernel, stride, padding) in shapes {
        let shape = Shape { batch: 2, ..Shape::convolution(input, channels, columns, kernel, stride, padding) };
        let case = Case::new(shape);
        let pixels = input[0] * input[1];
        let place = |index: usize| {
            let (image, plane, pixel) = (index / pixels / channels, index / pixels % channels, index % pixels);
            (image * pixels + pixel) * channels + plane
        };
        let mut planes: Vec<f32> = (0..case.input.len()).map(|index| case.input[place(index)]).collect();
        for isa in available() {
            let expected = case.compute(isa, Activation::RELU, None, 1);
            let planar = Case { shape: shape.planar(), input: planes, ..case.clone() };
            let computed = planar.compute(isa, Activation::RELU, None, 3);
            let near = |(left, right): (&f32, &f32)| (left - right).abs() <= 1e-4;
            assert!(computed.iter().zip(&expected).all(near), "{isa:?} {shape:?}");
            planes = planar.input;
        }
    }
}

#[test]
fn factors_of_channels_can_be_in_the_weights() {
    for isa in available() {
        let case = Case::new(Shape::product(9, 21, 45));
        let factors = Numbers(7).floats(21);
        let product = FloatProduct::new(case.shape, isa).unwrap();
        let pack = |weights: &[f32]| {
            packed(product.packed_size(), |packed| product.pack(&Weights::linear(weights, 21), &case.bias, packed))
        };
        let mut scaled = vec![0; product.packed_size()];
        product.scale(&pack(&case.weights), &factors, &mut scaled).unwrap();
        let weights = case.weights.iter().zip(factors.iter().cycle()).map(|(weight, factor)| weight * factor);
        // Zeros of columns that do not exist may have got another sign.
        let numbers =
            |packed: &[u8]| -> Vec<f32> { packed.as_chunks::<4>().0.iter().copied().map(f32::from_le_bytes).collect() };
        assert_eq!(numbers(&scaled), numbers(&pack(&weights.collect::<Vec<_>>())), "{isa:?}");
        assert!(product.scale(&scaled.clone(), &factors[1..], &mut scaled).is_err());
    }
}

#[test]
fn what_is_not_a_number_stays_so() {
    for isa in available() {
        let mut case = Case::new(Shape::product(8, 4, 40));
        case.input[5] = f32::NAN;
        let computed = case.compute(isa, Activation::RELU, None, 1);
        assert!(computed[40..80].iter().all(|value| value.is_nan()));
        assert!(computed[..40].iter().all(|value| !value.is_nan()));
    }
}

#[test]
fn matrices_are_packed_as_their_transposes_are() {
    for row in &KERNELS {
        let (inner, columns) = (37, 53);
        let product = FloatProduct::new(Shape::product(4, inner, columns), row.isa).unwrap();
        let matrix = Numbers(7).floats(inner * columns);
        let transpose: Vec<f32> =
            (0..inner * columns).map(|index| matrix[index % inner * columns + index / inner]).collect();
        let pack =
            |weights: Weights<'_, f32>| packed(product.packed_size(), |packed| product.pack(&weights, &[], packed));
        assert_eq!(pack(Weights::matrix(&matrix, columns)), pack(Weights::linear(&transpose, inner)));
    }
}

#[test]
fn columns_are_read_back() {
    let (inner, columns) = (7, 75);
    let case = Case::new(Shape::product(1, inner, columns));
    for isa in KERNELS.iter().map(|row| row.float.isa) {
        let product = FloatProduct::new(case.shape, isa).unwrap();
        let weights = Weights::linear(&case.weights, inner);
        let packed = packed(product.packed_size(), |packed| product.pack(&weights, &case.bias, packed));
        let mut read = vec![0.0; inner];
        for (column, row) in case.weights.chunks(inner).enumerate() {
            float_column([inner, columns], isa.architecture(), &packed, column, &mut read).unwrap();
            assert_eq!(read, row, "{isa:?} {column}");
        }
        assert!(float_column([inner, columns], isa.architecture(), &packed, columns, &mut read).is_err());
        assert!(float_column([inner, columns], isa.architecture(), &packed[4..], 0, &mut read).is_err());
    }
}

#[test]
fn short_operands_are_refused() {
    let case = Case::new(Shape::product(8, 4, 40));
    let product = FloatProduct::new(case.shape, Isa::Portable).unwrap();
    let packed = packed(product.packed_size(), |packed| product.pack(&Weights::linear(&case.weights, 4), &[], packed));
    let good = FloatOperands { input: &case.input, weights: &packed, activation: Activation::None, residual: None };
    let mut memory = vec![0.0; 320];
    let mut scratch = vec![0; product.scratch_size()];
    let mut run = |operands: &FloatOperands<'_>, rows, scratch: &mut [u8]| {
        let mut output = Output::new(&mut memory[..rows * 40], rows, 40, 40).unwrap();
        product.compute(operands, &mut output, product.grid().all(), scratch)
    };
    assert!(run(&good, 8, &mut scratch).is_ok());
    assert!(run(&good, 7, &mut scratch).is_err());
    assert!(run(&good, 8, &mut scratch[..64]).is_err());
    assert!(run(&FloatOperands { input: &case.input[1..], ..good }, 8, &mut scratch).is_err());
    assert!(run(&FloatOperands { weights: &packed[1..], ..good }, 8, &mut scratch).is_err());
    assert!(product.pack(&Weights::linear(&case.weights[1..], 4), &[], &mut packed.clone()).is_err());
}
