//! Compares every operation and every kind of source with scalar arithmetic in double precision.

use std::vec;
use std::vec::Vec;

use et_core::{Error, Result};
use et_simd::Level;

use super::{Instruction, Operand, Operation, Output, Program, Source, run, scratch};
use crate::test::{check, numbers};

/// The reference of each operation.
fn exact(operation: Operation, x: f64, y: f64, z: f64) -> f64 {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    match operation {
        Operation::Copy => x,
        Operation::Add => x + y,
        Operation::Sub => x - y,
        Operation::Mul => x * y,
        Operation::Div => x / y,
        Operation::Min => x.min(y),
        Operation::Max => x.max(y),
        Operation::MulAdd => x * y + z,
        Operation::Clamp => x.max(y).min(z),
        Operation::Where => {
            if x == 0.0 {
                z
            } else {
                y
            }
        }
        Operation::Less => f64::from(x < y),
        Operation::Equal => f64::from(x == y),
        Operation::Neg => -x,
        Operation::Abs => x.abs(),
        Operation::Relu => x.max(0.0),
        Operation::LeakyRelu => {
            if x < 0.0 {
                x * y
            } else {
                x
            }
        }
        Operation::Hardsigmoid => (x + 3.0).clamp(0.0, 6.0) / 6.0,
        Operation::Hardswish => x * (x + 3.0).clamp(0.0, 6.0) / 6.0,
        Operation::Sigmoid => sigmoid(x),
        Operation::Silu => x * sigmoid(x),
        Operation::Gelu => 0.5 * x * (1.0 + error_function(x / 2.0_f64.sqrt())),
        Operation::GeluTanh => {
            0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3))).tanh())
        }
        Operation::Tanh => x.tanh(),
        Operation::Erf => error_function(x),
        Operation::Exp => x.exp(),
        Operation::Sqrt => x.sqrt(),
        Operation::Rsqrt => 1.0 / x.sqrt(),
        Operation::Reciprocal => 1.0 / x,
        Operation::Square => x * x,
        Operation::LessEqual => f64::from(x <= y),
        Operation::NotEqual => f64::from(x != y),
    }
}

/// The power series of the error function, for inputs between -4 and 4.
fn error_function(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for index in 1..200 {
        term *= -x * x / f64::from(index);
        sum += term / f64::from(2 * index + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

fn instruction(operation: Operation, operands: [Operand; 3]) -> Instruction {
    Instruction { operation, operands, target: 0 }
}

fn compute(level: Level, program: &Program, output: &mut [f32]) -> Result<()> {
    run(level, program, Output::Floats(output), &mut vec![0.0; scratch(program)])
}

const OPERANDS: [Operand; 3] = [Operand::Source(0), Operand::Source(1), Operand::Source(2)];

#[test]
fn operations_are_what_they_say() {
    for &operation in Operation::ALL {
        for count in [0, 1, 3, 16, 17, 511, 512, 513, 1200] {
            let positive = matches!(operation, Operation::Sqrt | Operation::Rsqrt);
            let first: Vec<f32> = numbers(count, 1)
                .iter()
                .map(|number| if positive { number.abs() * 4.0 + 1e-3 } else { (number * 16.0).trunc() / 4.0 + 0.1 })
                .collect();
            let (second, third) = (numbers(count, 2), numbers(count, 3));
            let sources = [Source::Tensor(&first), Source::Tensor(&second), Source::Tensor(&third)];
            let instructions = [instruction(operation, OPERANDS)];
            let program = Program { instructions: &instructions, sources: &sources, columns: 1 };
            let arguments = first.iter().zip(&second).zip(&third);
            let expected: Vec<f64> =
                arguments.map(|((x, y), z)| exact(operation, f64::from(*x), f64::from(*y), f64::from(*z))).collect();
            let what = std::format!("{operation:?} of {count}");
            check(&what, &expected, 1e-6, |level, output| compute(level, &program, output));
        }
    }
}

#[test]
fn operations_have_numbers() {
    for (number, operation) in Operation::ALL.iter().enumerate() {
        assert_eq!(*operation as usize, number);
        assert_eq!(Operation::from_number(number as u8), Some(*operation));
    }
    assert_eq!(Operation::from_number(200), None);
}

#[test]
fn not_a_number_stays_none() {
    for operation in [Operation::Relu, Operation::Clamp, Operation::Min, Operation::Max, Operation::Hardswish] {
        for level in Level::available() {
            for operands in [[f32::NAN, 0.0, 6.0], [0.0, f32::NAN, 6.0]] {
                let binary = matches!(operation, Operation::Min | Operation::Max);
                if operands[1].is_nan() && !binary {
                    continue;
                }
                let instructions = [instruction(operation, operands.map(Operand::Constant))];
                let program = Program { instructions: &instructions, sources: &[], columns: 1 };
                let mut output = [0.0; 3];
                compute(level, &program, &mut output).unwrap();
                assert!(output[2].is_nan(), "{operation:?} {}", level.name());
            }
        }
    }
}

#[test]
fn chains_use_registers_and_all_kinds_of_sources() {
    for (rows, columns) in [(1, 1), (5, 3), (40, 16), (3, 511), (2, 512), (3, 513), (2, 2000), (700, 7)] {
        let count = rows * columns;
        let (tensor, bytes) = (numbers(count, 1), crate::test::bytes(count, 4));
        let (by_column, by_row) = (numbers(columns, 2), numbers(rows, 3));
        let sources = [
            Source::Tensor(&tensor),
            Source::Columns(&by_column),
            Source::Rows(&by_row),
            Source::Bytes { bytes: &bytes, scale: 0.5, zero_point: 3 },
        ];
        let [source, register] = [Operand::Source, Operand::Register];
        let none = Operand::Constant(0.0);
        let step = |operation, operands, target| Instruction { operation, operands, target };
        let instructions = [
            step(Operation::Mul, [source(0), source(1), none], 1),
            step(Operation::Add, [register(1), source(2), none], 0),
            step(Operation::Sub, [register(0), source(3), none], 0),
            step(Operation::MulAdd, [register(0), Operand::Constant(2.0), Operand::Constant(0.25)], 0),
        ];
        let program = Program { instructions: &instructions, sources: &sources, columns };
        let expected: Vec<f64> = (0..count)
            .map(|index| {
                let byte = 0.5 * f64::from(i32::from(bytes[index]) - 3);
                let product = f64::from(tensor[index]) * f64::from(by_column[index % columns]);
                (product + f64::from(by_row[index / columns]) - byte) * 2.0 + 0.25
            })
            .collect();
        check(&std::format!("{rows} x {columns}"), &expected, 1e-6, |level, output| compute(level, &program, output));
    }
}

#[test]
fn results_can_be_bytes() {
    let input = numbers(700, 1);
    let sources = [Source::Tensor(&input)];
    let instructions = [instruction(Operation::Relu, [Operand::Source(0); 3])];
    let program = Program { instructions: &instructions, sources: &sources, columns: 7 };
    let expected: Vec<i8> =
        input.iter().map(|number| ((f64::from(number.max(0.0)) * 64.0).round_ties_even() - 5.0) as i8).collect();
    for level in Level::available() {
        let (mut bytes, mut scratch) = (vec![0; 700], vec![0.0; scratch(&program)]);
        let output = Output::Bytes { bytes: &mut bytes, scale: 1.0 / 64.0, zero_point: -5 };
        run(level, &program, output, &mut scratch).unwrap();
        assert_eq!(bytes, expected, "{}", level.name());
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let input = [0.0; 8];
    let sources = [Source::Tensor(&input)];
    let instructions = [instruction(Operation::Neg, [Operand::Source(0); 3])];
    let good = Program { instructions: &instructions, sources: &sources, columns: 4 };
    let refused = |program: &Program, count: usize, room: usize| {
        let result = run(Level::Portable, program, Output::Floats(&mut vec![0.0; count]), &mut vec![0.0; room]);
        result == Err(Error::InvalidArgument)
    };
    let enough = scratch(&good);
    assert!(!refused(&good, 8, enough));
    assert!(refused(&good, 8, enough - 1));
    assert!(refused(&good, 4, enough));
    assert!(refused(&Program { columns: 3, ..good }, 8, enough));
    assert!(refused(&Program { columns: 0, ..good }, 8, enough));
    assert!(refused(&Program { instructions: &[], ..good }, 8, enough));
    let missing = [instruction(Operation::Neg, [Operand::Source(1); 3])];
    assert!(refused(&Program { instructions: &missing, ..good }, 8, enough));
    let missing = [instruction(Operation::Neg, [Operand::Register(0); 3])];
    assert!(refused(&Program { instructions: &missing, ..good }, 8, enough));
}
