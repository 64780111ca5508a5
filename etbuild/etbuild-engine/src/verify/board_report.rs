//! The outputs that firmware reports on its console, as safetensors.

use et_core::ScalarType;
use et_module::{Array, Named, safetensors};
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_link::report::{End, Report, parse};

use super::cost::Effort;
use crate::failure;
use crate::link::link_error;

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
pub fn read(console: &[u8], output_bytes: &[usize]) -> Result<BoardReport, Vec<Diagnostic>> {
    let report = parse(&String::from_utf8_lossy(console)).map_err(|error| vec![link_error(&error)])?;
    match &report.end {
        Some(End::Finished { cases, ticks, stack, .. }) if *cases as usize == report.outputs.len() => {
            let effort = Effort { ticks: *ticks, stack: *stack };
            Ok(BoardReport { outputs: encode(&report, output_bytes)?, effort })
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

fn encode(report: &Report, output_bytes: &[usize]) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let mut arrays = Named::new();
    let mut start = 0;
    for (index, size) in output_bytes.iter().enumerate() {
        let parts: Option<Vec<&[u8]>> = report.outputs.iter().map(|case| case.get(start..start + size)).collect();
        let parts = parts.ok_or_else(|| failed(format!("the board reported too few bytes for output {index}")))?;
        let shape = vec![parts.len(), size / ScalarType::Float.size()];
        arrays
            .insert(format!("output_{index}"), Array { scalar_type: ScalarType::Float, shape, bytes: parts.concat() });
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

    #[test]
    fn outputs_are_stacked_by_case() {
        let console = format!("{{\"outputs\":\"00000000\"}}\n{{\"outputs\":\"0000803f\"}}\n{END}");
        let report = read(console.as_bytes(), &[4]).unwrap();
        assert_eq!(report.effort, Effort { ticks: 7, stack: 9 });
        let output = SafeTensors::parse(&report.outputs).unwrap().tensors.remove("output_0").unwrap();
        assert_eq!((output.shape.as_slice(), output.bytes), (&[2, 1][..], &[0, 0, 0, 0, 0, 0, 0x80, 0x3f][..]));
    }

    #[test]
    fn a_report_that_is_cut_short_or_of_a_failure_is_an_error() {
        let one = "{\"outputs\":\"00000000\"}\n";
        assert!(read(one.as_bytes(), &[4]).is_err());
        assert!(read(format!("{one}{END}").as_bytes(), &[4]).is_err());
        assert!(read(b"{\"error\":18,\"place\":\"instruction\",\"index\":5}\n", &[4]).is_err());
    }
}
