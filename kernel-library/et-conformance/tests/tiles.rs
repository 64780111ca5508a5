//! Tiled GEMMs and convolutions are bit-identical to the plain loops, also at partial edge tiles.

use et_core::ScalarType;
use et_ops::call::{Argument, TensorRef, call};

/// `count` numbers of which no two in a row are alike, and whose products round.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let step = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..count).map(step).collect()
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn tensor<'a>(sizes: &'a [i32], bytes: &'a [u8]) -> Argument<'a> {
    Argument::Tensor(TensorRef { scalar_type: ScalarType::Float, sizes, bytes })
}

#[test]
fn products() {
    for [rows, inner, columns] in [[1, 1, 1], [13, 257, 33], [29, 600, 70], [4, 16, 17], [1, 300, 49], [3, 0, 2]] {
        let (left, right) = (numbers(rows * inner, 1), numbers(inner * columns, 2));
        let mut expected = Vec::new();
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let product = |at| left[row * inner + at] * right[at * columns + column];
            expected.push((0..inner).fold(0.0_f32, |sum, at| sum + product(at)));
        }
        let sizes = [rows, inner, columns].map(|size| i32::try_from(size).unwrap());
        let (left_sizes, right_sizes) = ([sizes[0], sizes[1]], [sizes[1], sizes[2]]);
        let (left, right) = (bytes(&left), bytes(&right));
        let arguments = [tensor(&left_sizes, &left), tensor(&right_sizes, &right)];
        let outputs = call(&et_ops::products::mm::MM, &arguments).unwrap();
        assert_eq!(outputs[0].bytes, bytes(&expected), "{sizes:?}");
    }
}

/// A convolution of square images: batch, channels, size; output channels, groups; kernel size, stride, padding,
/// dilation.
struct Shape {
    image: [usize; 3],
    outputs: [usize; 2],
    window: [usize; 4],
}

#[test]
fn convolutions() {
    let shape = |image, outputs, window| Shape { image, outputs, window };
    let shapes = [
        shape([2, 3, 11], [14, 1], [3, 1, 1, 1]),
        shape([1, 40, 9], [17, 1], [3, 2, 1, 1]),
        shape([1, 4, 13], [4, 4], [5, 1, 2, 1]),
        shape([1, 4, 13], [8, 4], [5, 2, 2, 2]),
        shape([2, 8, 7], [12, 2], [1, 1, 0, 1]),
        shape([1, 8, 7], [12, 1], [1, 2, 0, 1]),
        shape([1, 1, 3], [5, 1], [4, 1, 3, 2]),
        shape([1, 2, 70], [2, 2], [3, 1, 1, 1]),
    ];
    for shape in &shapes {
        check_convolution(shape);
    }
}

fn check_convolution(shape: &Shape) {
    let ([batch, channels, size], [outputs, groups], [window, stride, padding, dilation]) =
        (shape.image, shape.outputs, shape.window);
    let of_group = channels / groups;
    let (input, weight, bias) = (
        numbers(batch * channels * size * size, 3),
        numbers(outputs * of_group * window * window, 4),
        numbers(outputs, 5),
    );
    let out = (size + 2 * padding - (window - 1) * dilation - 1) / stride + 1;
    let inside = |position: usize, tap: usize| {
        (position * stride + tap * dilation).checked_sub(padding).filter(|index| *index < size)
    };
    let mut expected = Vec::new();
    for at in 0..batch * outputs * out * out {
        let (column, row, output, image) =
            (at % out, at / out % out, at / out / out % outputs, at / out / out / outputs);
        let mut sum = 0.0_f32;
        for tap in 0..of_group * window * window {
            let (column_tap, row_tap, within) = (tap % window, tap / window % window, tap / window / window);
            let Some((row, column)) = inside(row, row_tap).zip(inside(column, column_tap)) else { continue };
            let channel = output / (outputs / groups) * of_group + within;
            let pixel = input[((image * channels + channel) * size + row) * size + column];
            sum += pixel * weight[output * of_group * window * window + tap];
        }
        expected.push(sum + bias[output]);
    }
    let sizes = |sizes: &[usize]| sizes.iter().map(|size| i32::try_from(*size).unwrap()).collect::<Vec<_>>();
    let both = |number: usize| Argument::Ints(vec![i64::try_from(number).unwrap(); 2]);
    let (input_sizes, weight_sizes) =
        (sizes(&[batch, channels, size, size]), sizes(&[outputs, of_group, window, window]));
    let (bias_sizes, input, weight, bias) = (sizes(&[outputs]), bytes(&input), bytes(&weight), bytes(&bias));
    let arguments = [
        tensor(&input_sizes, &input),
        tensor(&weight_sizes, &weight),
        tensor(&bias_sizes, &bias),
        both(stride),
        both(padding),
        both(dilation),
        Argument::Bool(false),
        both(0),
        Argument::Int(i64::try_from(groups).unwrap()),
    ];
    let got = call(&et_ops::convolutions::convolution::CONVOLUTION, &arguments).unwrap();
    let name = format!("{:?} {:?} {:?}", shape.image, shape.outputs, shape.window);
    assert_eq!(got[0].bytes, bytes(&expected), "{name}");
}
