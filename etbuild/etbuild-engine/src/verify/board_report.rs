//! The outputs that firmware reports on its console, as safetensors.

use et_core::ScalarType;
use et_module::{Array, Named, safetensors};
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_link::MethodFacts;
use etbuild_link::report::{End, Report, parse};

use super::cost::Effort;
use crate::failure;
use crate::link::link_error;

/// The outputs of firmware's method, which the console has as bytes.
#[derive(Clone, Debug, Default)]
pub struct ConsoleOutputs {
    /// The bytes of each output.
    pub bytes: Vec<usize>,
    /// The number of the element type of each output, as in program files.
    pub types: Vec<u8>,
}

impl ConsoleOutputs {
    /// The outputs of a method.
    pub fn of(method: MethodFacts) -> Self {
        Self { bytes: method.output_bytes, types: method.output_types }
    }
}

/// What firmware reported.
pub struct BoardReport {
    /// The outputs of all cases: `output_0`, ..., with a row per case.
    pub outputs: Vec<u8>,
    /// What the inferences took.
    pub effort: Effort,
}

/// Reads the report on a console.
///
/// # Errors
/// A report that is malformed, cut short, or tells of a failure.
pub fn read(console: &[u8], console_outputs: &ConsoleOutputs) -> Result<BoardReport, Vec<Diagnostic>> {
    let report = parse(&String::from_utf8_lossy(console)).map_err(|error| vec![link_error(&error)])?;
    match &report.end {
        Some(End::Finished { cases, ticks, stack, .. }) if *cases as usize == report.outputs.len() => {
            let effort = Effort { ticks: *ticks, stack: *stack, bench: report.bench.clone() };
            Ok(BoardReport { outputs: encode(&report, console_outputs)?, effort })
        }
        Some(End::Finished { cases, .. }) => {
            Err(failed(format!("the board ran {cases} cases and reported {}", report.outputs.len())))
        }
        Some(End::Failed { error, place, index }) => {
            Err(failed(format!("the board failed with error {error:#x} at {place} {index}")))
        }
        None => Err(failed(format!("the board's report breaks off after {} cases", report.outputs.len()))),
    }
}

fn encode(report: &Report, outputs: &ConsoleOutputs) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let mut arrays = Named::new();
    let mut start = 0;
    for (index, (size, number)) in outputs.bytes.iter().zip(&outputs.types).enumerate() {
        let unknown = || failed(format!("output {index} has an unknown type"));
        let scalar_type = ScalarType::from_number(*number).ok_or_else(unknown)?;
        let parts: Option<Vec<&[u8]>> = report.outputs.iter().map(|case| case.get(start..start + size)).collect();
        let parts = parts.ok_or_else(|| failed(format!("the board reported too few bytes for output {index}")))?;
        let shape = vec![parts.len(), size / scalar_type.size()];
        arrays.insert(format!("output_{index}"), Array { scalar_type, shape, bytes: parts.concat() });
        start += size;
    }
    let mut file = Vec::new();
    safetensors::write(&arrays, &mut file).map_err(|error| failure::internal(&error.to_string()))?;
    Ok(file)
}

fn failed(message: String) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Code::RunFailed, message)]
}

#[cfg(test)]
mod tests {
    use et_module::safetensors::SafeTensors;

    use super::*;

    const END: &str = "{\"cases\":2,\"max_error_bits\":0,\"argmax_equal\":2,\"ticks\":7,\"stack\":9}\n";

    /// A single output of four bytes.
    fn outputs(scalar_type: ScalarType) -> ConsoleOutputs {
        ConsoleOutputs { bytes: vec![4], types: vec![scalar_type as u8] }
    }

    #[test]
    fn outputs_have_the_type_of_the_program() {
        let console = format!("{{\"outputs\":\"01000200\"}}\n{{\"outputs\":\"03000400\"}}\n{END}");
        let report = read(console.as_bytes(), &outputs(ScalarType::Short)).unwrap();
        let output = SafeTensors::parse(&report.outputs).unwrap().tensors.remove("output_0").unwrap();
        assert_eq!((output.scalar_type, output.shape.as_slice()), (ScalarType::Short, &[2, 2][..]));
    }

    #[test]
    fn outputs_are_stacked_by_case() {
        let console = format!("{{\"outputs\":\"00000000\"}}\n{{\"outputs\":\"0000803f\"}}\n{END}");
        let report = read(console.as_bytes(), &outputs(ScalarType::Float)).unwrap();
        assert_eq!(report.effort, Effort { ticks: 7, stack: 9, bench: Vec::new() });
        let output = SafeTensors::parse(&report.outputs).unwrap().tensors.remove("output_0").unwrap();
        assert_eq!((output.shape.as_slice(), output.bytes), (&[2, 1][..], &[0, 0, 0, 0, 0, 0, 0x80, 0x3f][..]));
    }

    #[test]
    fn a_report_that_is_cut_short_or_of_a_failure_is_an_error() {
        let one = "{\"outputs\":\"00000000\"}\n";
        assert!(read(one.as_bytes(), &outputs(ScalarType::Float)).is_err());
        assert!(read(format!("{one}{END}").as_bytes(), &outputs(ScalarType::Float)).is_err());
        assert!(read(b"{\"error\":18,\"place\":\"instruction\",\"index\":5}\n", &outputs(ScalarType::Float)).is_err());
    }
}
