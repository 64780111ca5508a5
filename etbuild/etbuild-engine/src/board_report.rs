//! What firmware says on its console: a line of JSON per case with the bytes of its outputs, and one at the end.

use std::collections::BTreeMap;

use et_core::ScalarType;
use et_module::{Array, safetensors};
use etbuild_diagnostic::{Code, Diagnostic};
use serde::Deserialize;

/// A line of the report; what is of no interest here is left out.
#[derive(Deserialize)]
struct Line {
    outputs: Option<String>,
    cases: Option<usize>,
}

/// The outputs of all cases as safetensors: `output_0`, ..., with a row per case.
///
/// # Errors
/// A report that is cut short or does not say what it should.
pub fn outputs(console: &[u8], output_bytes: &[usize]) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let text = String::from_utf8_lossy(console);
    let lines: Vec<Line> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let cases: Vec<Vec<u8>> = lines.iter().filter_map(|line| bytes(line.outputs.as_deref()?)).collect();
    let announced = lines.iter().find_map(|line| line.cases);
    if announced != Some(cases.len()) {
        let message = format!("the board reported {} cases and announced {announced:?}", cases.len());
        return Err(vec![Diagnostic::error(Code::RunFailed, message)]);
    }
    encode(&cases, output_bytes)
}

fn encode(cases: &[Vec<u8>], output_bytes: &[usize]) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let mut arrays = BTreeMap::new();
    let mut start = 0;
    for (index, size) in output_bytes.iter().enumerate() {
        let parts: Option<Vec<&[u8]>> = cases.iter().map(|case| case.get(start..start + size)).collect();
        let parts = parts.ok_or_else(|| {
            vec![Diagnostic::error(Code::RunFailed, format!("the board reported too few bytes for output {index}"))]
        })?;
        let shape = vec![cases.len(), size / 4];
        let array = Array { scalar_type: ScalarType::Float, shape, bytes: parts.concat() };
        arrays.insert(format!("output_{index}"), array);
        start += size;
    }
    let mut file = Vec::new();
    safetensors::write(&arrays, &mut file).map_err(|error| crate::failure::internal(&error.to_string()))?;
    Ok(file)
}

/// Bytes from hexadecimal digits.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use et_module::safetensors::SafeTensors;

    use super::*;

    #[test]
    fn outputs_are_stacked_by_case() {
        let console = b"{\"producer\":\"x\"}\n{\"outputs\":\"00000000\"}\n{\"outputs\":\"0000803f\"}\n{\"cases\":2}\n";
        let file = outputs(console, &[4]).unwrap();
        let tensors = SafeTensors::parse(&file).unwrap().tensors;
        assert_eq!(
            (tensors["output_0"].shape.as_slice(), tensors["output_0"].bytes),
            (&[2, 1][..], &[0, 0, 0, 0, 0, 0, 0x80, 0x3f][..])
        );
    }

    #[test]
    fn a_report_that_is_cut_short_is_an_error() {
        assert!(outputs(b"{\"outputs\":\"00000000\"}\n", &[4]).is_err());
        assert!(outputs(b"{\"outputs\":\"0000\"}\n{\"cases\":1}\n", &[4]).is_err());
    }
}
