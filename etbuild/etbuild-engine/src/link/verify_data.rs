//! Reference data: inputs and outputs that the model's author recorded with PyTorch.

use std::io;

use et_module::TensorView;
use et_module::safetensors::SafeTensors;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_link::{MethodFacts, VerifyData};

use crate::action::Blocked;
use crate::input::{DataFile, Db};
use crate::pipeline::Stage;

/// The cases in a safetensors file of inputs and a file of reference outputs, in the form that a board carries: the inputs of a case
/// one after the other, then the inputs of the next case; likewise the expected outputs, which are called `<prefix>0`, `<prefix>1`
/// and so on.
///
/// # Errors
/// A file that is not safetensors, a tensor that is missing or has the wrong number of bytes.
pub fn cases(
    (inputs, reference): (&[u8], &[u8]),
    method: &MethodFacts,
    prefix: &str,
) -> Result<VerifyData, Vec<Diagnostic>> {
    let tensors = parse(inputs).map_err(|error| vec![error])?;
    let reference = parse(reference).map_err(|error| vec![error])?;
    let outputs: Vec<String> = (0..method.output_bytes.len()).map(|index| format!("{prefix}{index}")).collect();
    let inputs = columns(&tensors, &method.inputs, &method.input_bytes).map_err(|error| vec![error])?;
    let expected = columns(&reference, &outputs, &method.output_bytes).map_err(|error| vec![error])?;
    let counts = inputs.iter().chain(&expected).map(|column| column.cases);
    let cases = counts.max().unwrap_or(0);
    Ok(VerifyData { cases, inputs: interleave(&inputs, cases), outputs: interleave(&expected, cases) })
}

/// The verification data cannot be read.
pub fn unreadable(db: &dyn Db, file: DataFile, error: io::ErrorKind) -> Blocked {
    let message = format!("the verification data `{}` cannot be read: {error}", file.path(db).display());
    Blocked::failed(Stage::Verify, [Diagnostic::error(Code::FileUnreadable, message)])
}

/// Reads a file of reference data.
pub fn parse(file: &[u8]) -> Result<SafeTensors<'_>, Diagnostic> {
    let malformed = |error| {
        Diagnostic::error(Code::InputsMismatch, format!("the verification data is malformed: {error}"))
            .help("write the file again; is the download complete?")
    };
    SafeTensors::parse(file).map_err(malformed)
}

/// A tensor cut into cases.
struct Column<'a> {
    bytes: &'a [u8],
    stride: usize,
    cases: usize,
}

fn columns<'a>(file: &SafeTensors<'a>, names: &[String], sizes: &[usize]) -> Result<Vec<Column<'a>>, Diagnostic> {
    names.iter().zip(sizes).map(|(name, size)| column(file, name, *size)).collect()
}

fn column<'a>(file: &SafeTensors<'a>, name: &str, stride: usize) -> Result<Column<'a>, Diagnostic> {
    let TensorView { bytes, shape, .. } = file.tensors.get(name).ok_or_else(|| missing(file, name))?;
    if stride == 0 || bytes.len() % stride != 0 || bytes.is_empty() {
        let len = bytes.len();
        let message = format!(
            "`{name}` of the verification data has shape {shape:?}, {len} bytes, and a case has {stride} bytes"
        );
        let help = "give whole cases, one after the other; firmware computes the largest sizes of a dynamic input";
        return Err(Diagnostic::error(Code::InputsMismatch, message).help(help));
    }
    Ok(Column { bytes, stride, cases: bytes.len() / stride })
}

fn missing(file: &SafeTensors<'_>, name: &str) -> Diagnostic {
    let names: Vec<&str> = file.tensors.keys().map(String::as_str).collect();
    let message = format!("the verification data has no tensor `{name}`");
    Diagnostic::error(Code::InputsMismatch, message).help(format!("it has {}", names.join(", ")))
}

/// Case by case; a tensor of one case is the same in every case.
fn interleave(columns: &[Column<'_>], cases: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for case in 0..cases {
        for column in columns {
            let start = if column.cases == 1 { 0 } else { case * column.stride };
            bytes.extend_from_slice(column.bytes.get(start..start + column.stride).unwrap_or_default());
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(bytes: &[u8], stride: usize) -> Column<'_> {
        Column { bytes, stride, cases: bytes.len() / stride }
    }

    #[test]
    fn cases_follow_each_other_and_a_single_one_repeats() {
        let columns = [column(&[1, 2, 3, 4], 2), column(&[9], 1)];
        assert_eq!(interleave(&columns, 2), [1, 2, 9, 3, 4, 9]);
    }
}
