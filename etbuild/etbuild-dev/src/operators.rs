//! The table of operators, with the dtypes that cases of each kernel cover.

use std::fmt::Write;

use et_conformance::{Support, support};
use et_core::ScalarType;
use etbuild_target::Catalogue;

/// The columns, in the order of the table.
const COLUMNS: [(&str, ScalarType); 12] = [
    ("bool", ScalarType::Bool),
    ("u8", ScalarType::Byte),
    ("i8", ScalarType::Char),
    ("i16", ScalarType::Short),
    ("i32", ScalarType::Int),
    ("i64", ScalarType::Long),
    ("f16", ScalarType::Half),
    ("bf16", ScalarType::BFloat16),
    ("f32", ScalarType::Float),
    ("f64", ScalarType::Double),
    ("c64", ScalarType::ComplexFloat),
    ("c128", ScalarType::ComplexDouble),
];

/// The page, made by running every kernel.
pub fn reference_markdown() -> String {
    let rows = support();
    let mut page = introduction(&rows);
    heading(&mut page);
    rows.iter().for_each(|row| operator_row(&mut page, row));
    primitives(&mut page);
    page
}

fn introduction(rows: &[Support]) -> String {
    let catalogue = Catalogue::shipped();
    let targets: Vec<String> =
        catalogue.iter().flat_map(Catalogue::iter).map(|target| format!("`{}`", target.name())).collect();
    let upstream = rows.iter().filter(|row| et_ops::has_upstream(row.operator.name())).count();
    format!(
        "# Operators and dtypes\n\n\
         {} operators, {upstream} of which ExecuTorch's runtime has too (column *upstream*). `cargo dev generate` writes this \
         page by running every portable kernel on the cases of its operator's file; a test fails if the page is out of date.\n\n\
         - ● the kernel computed PyTorch's results, on tensor arguments of this type (or with a result of this type, for \
         operators without tensor arguments)\n\
         - ○ the kernel computed the results of a ● case after a change of the case's type to this type\n\
         - empty: no case with this type\n\n\
         The kernel of an operator is the same Rust code on every target ({}), so the table holds for each target. A binary \
         contains only the kernels and types of its program ([selective build](../selective-build.md)); \
         `etbuild explain --operators` lists both.\n\n",
        rows.len(),
        targets.join(", "),
    )
}

fn heading(page: &mut String) {
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let _ = writeln!(page, "| operator | {} | upstream |", names.join(" | "));
    let _ = writeln!(page, "|---|{}---|", ":-:|".repeat(COLUMNS.len()));
}

fn operator_row(page: &mut String, row: &Support) {
    let mark = |scalar_type| match (row.checked.contains(scalar_type), row.carried.contains(scalar_type)) {
        (true, _) => "●",
        (false, true) => "○",
        (false, false) => "",
    };
    let marks: Vec<&str> = COLUMNS.iter().map(|(_, scalar_type)| mark(*scalar_type)).collect();
    let name = row.operator.name();
    let _ = writeln!(page, "| `{name}` | {} | {} |", marks.join(" | "), yes(et_ops::has_upstream(name)));
}

fn primitives(page: &mut String) {
    page.push_str(
        "\n## Primitives\n\nThey work on numbers, or move between tensors and control flow; each has one kernel.\n\n\
         | primitive | upstream |\n|---|---|\n",
    );
    for primitive in et_ops::PRIMITIVES {
        let _ = writeln!(page, "| `{}` | {} |", primitive.name(), yes(et_ops::has_upstream(primitive.name())));
    }
}

fn yes(flag: bool) -> &'static str {
    if flag { "yes" } else { "" }
}
