//! The outputs of a board against those of the program file on this machine, bit for bit: portable kernels and those of
//! microcontrollers compute the same on every processor.

use et_module::safetensors::SafeTensors;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_target::Run;

use super::UnitReport;
use crate::action::{ArtifactKind, Blocked};
use crate::input::Db;
use crate::link::{Maker, verify_data};
use crate::pipeline::Stage;
use crate::unit::Unit;
use crate::verify;

/// Compares the outputs of a unit that is firmware, unless the recipe says otherwise.
///
/// # Errors
/// Outputs that differ.
pub fn compare(
    db: &dyn Db,
    unit: &Unit,
    maker: &Maker,
    outputs: &[u8],
    report: &mut UnitReport,
) -> Result<(), Blocked> {
    if !are_compared(unit) {
        return Ok(());
    }
    let Some(here) = outputs_here(db, unit, maker, report)? else { return Ok(()) };
    let differing = differing(outputs, &here).map_err(|found| Blocked::failed(Stage::Verify, [found]))?;
    report.same_bits = Some(differing.is_empty());
    if differing.is_empty() { Ok(()) } else { Err(Blocked::failed(Stage::Verify, [other_bits(unit, &differing)])) }
}

/// The outputs of the program file on this machine; `None`, with a note, where it does not run here, as with operators of the user's.
fn outputs_here(db: &dyn Db, unit: &Unit, maker: &Maker, report: &mut UnitReport) -> Result<Option<Vec<u8>>, Blocked> {
    let Ok(runner) = verify::model(db.world()) else { return Ok(None) };
    match unit.verified(db, maker, runner).transpose() {
        Ok(verified) => {
            let blob = verified.map(|verified| verified.blob(ArtifactKind::Outputs)).transpose()?;
            Ok(blob.map(|blob| db.world().open_blob(&blob).to_vec()))
        }
        Err(Blocked::Failed(failed)) => {
            let reason = failed.diagnostics.first().map_or("", |found| &found.message);
            report.notes.push(format!("bits not compared: the program file does not run on this machine ({reason})"));
            Ok(None)
        }
        Err(blocked) => Err(blocked),
    }
}

/// How many elements of an output differ.
struct Differing {
    output: String,
    elements: usize,
    of: usize,
}

/// The outputs with elements that differ, or with other shapes.
fn differing(outputs: &[u8], here: &[u8]) -> Result<Vec<Differing>, Diagnostic> {
    let (outputs, here) = (verify_data::parse(outputs)?, verify_data::parse(here)?);
    let find = |(name, size, bytes): (&str, usize, &[u8])| {
        let other = here.tensors.get(name).map_or(&[][..], |tensor| tensor.bytes);
        let equal = bytes.chunks(size).zip(other.chunks(size)).filter(|(one, other)| one == other).count();
        let of = bytes.len().max(other.len()) / size;
        (equal < of).then(|| Differing { output: name.to_owned(), elements: of - equal, of })
    };
    Ok(elements(&outputs).filter_map(find).collect())
}

/// Names of tensors with the bytes of an element and all bytes.
fn elements<'t>(file: &'t SafeTensors<'_>) -> impl Iterator<Item = (&'t str, usize, &'t [u8])> {
    file.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor.scalar_type.size().max(1), tensor.bytes))
}

fn other_bits(unit: &Unit, differing: &[Differing]) -> Diagnostic {
    let message = format!("{} computes other bits than its program file on this machine", unit.instance());
    let diagnostic = Diagnostic::error(Code::AccuracyFailed, message);
    let each = differing
        .iter()
        .map(|Differing { output, elements, of }| format!("{elements} of {of} elements of `{output}` differ"));
    let help = "the processor, its memory or its clock is at fault, or a kernel of etbuild: `verify: { exact: false }` lets it pass";
    each.fold(diagnostic, Diagnostic::note).help(help)
}

/// Whether the recipe and the target have outputs compared: those of firmware itself, and not of a model of it.
fn are_compared(unit: &Unit) -> bool {
    let is_exact = unit.recipe.verify.as_ref().is_some_and(|options| options.exact);
    is_exact && unit.target.memory().is_some() && !matches!(unit.target.run(), Run::Model)
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;
    use et_module::safetensors::write;
    use et_module::{Array, Named};

    use super::*;

    fn file(numbers: &[f32]) -> Vec<u8> {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let array = Array { scalar_type: ScalarType::Float, shape: vec![numbers.len()], bytes };
        let mut file = Vec::new();
        write(&Named::from([("output_0".to_owned(), array)]), &mut file).unwrap();
        file
    }

    #[test]
    fn numbers_that_are_equal_may_have_other_bits() {
        let found = |one: &[f32], other: &[f32]| {
            let found = differing(&file(one), &file(other)).unwrap();
            found.iter().map(|found| (found.elements, found.of)).collect::<Vec<_>>()
        };
        assert_eq!(found(&[1.0, f32::NAN], &[1.0, f32::NAN]), []);
        assert_eq!(found(&[0.0, 2.0], &[-0.0, 2.0]), [(1, 2)]);
        assert_eq!(found(&[1.0], &[1.0, 2.0]), [(1, 2)]);
    }
}
