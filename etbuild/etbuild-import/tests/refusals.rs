//! Archives that cannot be imported: each is refused with a specific error, and no input makes the importer panic.
#![allow(clippy::disallowed_methods, reason = "tests read files")]

use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Arc;

use etbuild_import::{ImportError, import_pt2};
use etbuild_ir::ValueKind;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

const MODEL: &str = "models/model.json";
const WEIGHTS: &str = "data/weights/model_weights_config.json";

fn read(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format!("{name}.pt2"))).unwrap()
}

fn import(bytes: Vec<u8>) -> Result<(), Vec<ImportError>> {
    import_pt2(Arc::new(bytes)).map(drop)
}

/// The archive with a member changed by `edit`, which may remove the member.
fn edited(archive: &str, member: &str, edit: impl Fn(Vec<u8>) -> Option<Vec<u8>>) -> Vec<u8> {
    repacked(archive, CompressionMethod::Stored, |name, bytes| if name == member { edit(bytes) } else { Some(bytes) })
}

fn repacked(archive: &str, method: CompressionMethod, edit: impl Fn(&str, Vec<u8>) -> Option<Vec<u8>>) -> Vec<u8> {
    let mut from = ZipArchive::new(Cursor::new(read(archive))).unwrap();
    let mut to = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..from.len() {
        let mut member = from.by_index(index).unwrap();
        let (name, mut bytes) = (member.name().unwrap().into_owned(), Vec::new());
        std::io::copy(&mut member, &mut bytes).unwrap();
        let Some(bytes) = edit(name.split_once('/').unwrap().1, bytes) else { continue };
        to.start_file(name, SimpleFileOptions::default().compression_method(method)).unwrap();
        to.write_all(&bytes).unwrap();
    }
    to.finish().unwrap().into_inner()
}

/// The errors of the importer after replacing `from` by `to` in a member.
fn errors(archive: &str, member: &str, from: &str, to: &str) -> Vec<ImportError> {
    let replace = |bytes| {
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(from), "{from}");
        Some(text.replacen(from, to, 1).into_bytes())
    };
    import(edited(archive, member, replace)).unwrap_err()
}

fn only(mut errors: Vec<ImportError>) -> ImportError {
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

#[test]
fn other_files_are_not_archives() {
    assert!(matches!(only(import(b"PK".to_vec()).unwrap_err()), ImportError::NotZip(_)));
    let renamed = edited("elementwise", "archive_format", |_| Some(b"torchscript".to_vec()));
    assert!(matches!(only(import(renamed).unwrap_err()), ImportError::NotPt2(_)));
    let dropped = edited("elementwise", MODEL, |_| None);
    assert_eq!(only(import(dropped).unwrap_err()), ImportError::MemberMissing(MODEL.into()));
}

#[test]
fn compressed_members_are_refused() {
    let packed = repacked("elementwise", CompressionMethod::Deflated, |_, bytes| Some(bytes));
    assert!(only(import(packed).unwrap_err()).to_string().contains("packed again"));
}

#[test]
fn another_schema_version_is_refused() {
    let error = only(errors("elementwise", MODEL, r#""major": 8"#, r#""major": 9"#));
    assert_eq!(error, ImportError::SchemaVersion { found: 9, known: 8 });
}

#[test]
fn an_unsupported_size_expression_is_refused_with_the_name_of_the_value() {
    let to = r#""sizes": [{"as_expr": {"expr_str": "s0", "hint": null}}, {"as_int": 3}"#;
    let error = only(errors("shapes", MODEL, r#""sizes": [{"as_int": 2}, {"as_int": 3}"#, to));
    assert_eq!(error, ImportError::DynamicShape("x".into()));
}

#[test]
fn all_operators_without_a_schema_are_listed() {
    let foreign = edited("elementwise", MODEL, |bytes| {
        let text = String::from_utf8(bytes).unwrap();
        Some(
            text.replace("torch.ops.aten.sigmoid.", "torch.ops.my.one.")
                .replace("ops.aten.tanh.", "ops.my.two.")
                .into(),
        )
    });
    let unknown = |name: &str| ImportError::UnknownOperator {
        operator: format!("torch.ops.my.{name}.default"),
        source_line: None,
    };
    assert_eq!(import(foreign).unwrap_err(), [unknown("one"), unknown("two")]);
}

#[test]
fn unsupported_control_flow_is_refused() {
    let error = only(errors("elementwise", MODEL, "torch.ops.aten.sigmoid.default", "torch.ops.higher_order.cond"));
    assert_eq!(error, ImportError::HigherOrder("higher_order.cond".into()));
}

#[test]
fn arguments_outside_the_schema_are_refused() {
    let errors = errors("elementwise", MODEL, r#""name": "alpha""#, r#""name": "beta""#);
    assert!(matches!(&errors[0], ImportError::Argument { argument, .. } if argument == "beta"), "{errors:?}");
}

#[test]
fn a_pickled_weight_is_refused_with_a_hint() {
    let error = only(errors("elementwise", WEIGHTS, r#""use_pickle": false"#, r#""use_pickle": true"#));
    assert!(error.to_string().contains("run_decompositions({})"), "{error}");
}

#[test]
fn complex_weights_are_refused_by_type() {
    let error = only(errors("elementwise", WEIGHTS, r#""dtype": 7"#, r#""dtype": 9"#));
    assert!(matches!(error, ImportError::ScalarType { number: 9, .. }), "{error}");
}

#[test]
fn weights_outside_of_the_member_are_refused() {
    let error = only(errors("elementwise", WEIGHTS, r#""sizes": [{"as_int": 4}"#, r#""sizes": [{"as_int": 5}"#));
    assert_eq!(error, ImportError::TruncatedWeight("scale".into()));
}

#[test]
fn weights_that_inflate_the_archive_are_refused() {
    let from = r#""sizes": [{"as_int": 4}, {"as_int": 1}]"#;
    let to = r#""sizes": [{"as_int": 2000000000}, {"as_int": 3000}]"#;
    let big = edited("elementwise", WEIGHTS, |bytes| {
        let text = String::from_utf8(bytes).unwrap().replacen(from, to, 1);
        Some(text.replacen(r#""strides": [{"as_int": 1}"#, r#""strides": [{"as_int": 0}"#, 1).into_bytes())
    });
    assert_eq!(only(import(big).unwrap_err()), ImportError::InflatedWeight("scale".into()));
}

#[test]
fn a_write_to_an_input_becomes_an_update() {
    let target = r#"{"name": "self", "arg": {"as_tensor": {"name": "mul"}}"#;
    let to = |name: &str| target.replace("mul", name);
    let written = edited("elementwise", MODEL, |bytes| {
        Some(String::from_utf8(bytes).unwrap().replace(target, &to("x")).into_bytes())
    });
    let program = import_pt2(Arc::new(written)).unwrap().into_program();
    let graph = &program.methods["forward"];
    let [update] = graph.updates[..] else { panic!("{} updates", graph.updates.len()) };
    let value = graph.value(update.target);
    assert_eq!((&value.name[..], &value.kind), ("x", &ValueKind::Input));
}

#[test]
fn a_write_through_an_unknown_view_is_refused() {
    let error = only(errors("writes", MODEL, "torch.ops.aten.t.default", "torch.ops.aten.adjoint.default"));
    assert_eq!(error, ImportError::Aliased("t".into()));
}

#[test]
fn a_write_without_a_functional_equivalent_is_refused() {
    let error = only(errors("elementwise", MODEL, "torch.ops.aten.relu_.default", "torch.ops.aten.squeeze_.default"));
    assert!(matches!(error, ImportError::Mutation { operator, .. } if operator == "aten.squeeze_.default"));
}

#[test]
fn changed_bytes_never_make_the_importer_panic() {
    let archive = read("elementwise");
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % bound
    };
    for _ in 0..400 {
        let mut changed = archive.clone();
        for _ in 0..=random(4) {
            let at = random(changed.len());
            changed[at] = random(256) as u8;
        }
        drop(import(changed));
    }
}

#[test]
fn changed_programs_never_make_the_importer_panic() {
    let mut state = 1_u64;
    for round in 0..300_u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round);
        let changed = edited("writes", MODEL, |bytes| Some(swap_numbers_and_names(bytes, state)));
        drop(import(changed));
    }
}

/// The text with some digits and some letters of value names replaced. The result is often still JSON.
fn swap_numbers_and_names(mut bytes: Vec<u8>, mut state: u64) -> Vec<u8> {
    for _ in 0..3 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(7);
        let start = (state >> 33) as usize % bytes.len();
        let digit = bytes[start..].iter().position(u8::is_ascii_digit);
        if let Some(offset) = digit {
            bytes[start + offset] = b'0' + (state >> 20) as u8 % 10;
        }
    }
    bytes
}

#[test]
fn truncation_anywhere_is_an_error() {
    let archive = read("elementwise");
    for end in (0..archive.len()).step_by(97) {
        assert!(import(archive[..end].to_vec()).is_err(), "{end}");
    }
}
