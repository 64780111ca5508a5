//! Data files and bundled programs as text: every field that the readers have a view for.
#![allow(dead_code)] // Each test file and fuzz target uses a part.

use std::fmt::Write;

use et_core::Result;
use et_format::{BundledProgram, BundledSlot, BundledValue, DataFile, List};

/// Reads every field of a data file; returns the error of the first malformed field.
pub fn describe_data(bytes: &[u8]) -> Result<String> {
    let file = DataFile::parse(bytes)?;
    let mut text = format!("version {}\n", file.version()?);
    for entry in file.entries()?.iter() {
        let entry = entry?;
        write!(text, "{} in {}: ", entry.key()?, entry.segment_index()?).unwrap();
        if let Some(layout) = entry.layout()? {
            let sizes: Vec<i32> = layout.sizes()?.iter().collect();
            write!(text, "{}{sizes:?}{:?} ", layout.scalar_type()?.name(), layout.dim_order()?).unwrap();
        }
        writeln!(text, "{:?}", file.bytes(entry)?).unwrap();
    }
    Ok(text)
}

/// Reads every field of a bundled program except the program.
pub fn describe_bundle(bytes: &[u8]) -> Result<String> {
    let bundle = BundledProgram::parse(bytes)?;
    let mut text = format!("version {}\nprogram of {} bytes\n", bundle.version()?, bundle.program()?.len());
    for suite in bundle.suites()?.iter() {
        let suite = suite?;
        writeln!(text, "method {}", suite.method_name()?).unwrap();
        for case in suite.cases()?.iter() {
            let case = case?;
            writeln!(text, "  {} -> {}", values(case.inputs()?)?, values(case.expected_outputs()?)?).unwrap();
        }
    }
    Ok(text)
}

fn values(slots: List<'_, BundledSlot<'_>>) -> Result<String> {
    let values: Result<Vec<String>> = slots.iter().map(|slot| value(slot?)).collect();
    Ok(format!("({})", values?.join(", ")))
}

fn value(slot: BundledSlot<'_>) -> Result<String> {
    Ok(match slot.read()? {
        BundledValue::Tensor(tensor) => {
            let sizes: Vec<i32> = tensor.sizes()?.iter().collect();
            format!("{}{sizes:?}{:?} {:?}", tensor.scalar_type()?.name(), tensor.dim_order()?, tensor.data()?)
        }
        BundledValue::Int(number) => number.to_string(),
        BundledValue::Bool(flag) => flag.to_string(),
        BundledValue::Double(number) => format!("{number:?}"),
    })
}
