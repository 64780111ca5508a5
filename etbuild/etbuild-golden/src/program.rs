//! Programs as case files write them: constants are literals, and values have no numbers.

use std::collections::BTreeMap;

use et_core::ScalarType;
use etbuild_ir::{Aten, ConstantData, CoreAten, Dialect, Digest, Edge, Lowered, Program, Verified, Violation, text};

use crate::literal;

/// The literals of a case: bytes by digest, and text as written by type and digest.
#[derive(Debug, Default)]
pub struct Literals {
    data: BTreeMap<Digest, ConstantData>,
    written: BTreeMap<(String, Digest), String>,
}

/// Checks a program against a dialect.
type Verify = fn(Program) -> Result<Program, Vec<Violation>>;

/// The dialects by the name in the first line of a program.
const DIALECTS: [(&str, Verify); 4] = [
    (Aten::NAME, |program| Verified::<Aten>::verify(program).map(Verified::into_program)),
    (CoreAten::NAME, |program| Verified::<CoreAten>::verify(program).map(Verified::into_program)),
    (Edge::NAME, |program| Verified::<Edge>::verify(program).map(Verified::into_program)),
    (Lowered::NAME, |program| Verified::<Lowered>::verify(program).map(Verified::into_program)),
];

/// Parses and verifies a program with literals. Returns the name of the dialect and the program.
pub fn parse(input: &str, literals: &mut Literals) -> Result<(String, Program), String> {
    let lines: Result<Vec<String>, String> = input.lines().map(|line| with_digest(line, literals)).collect();
    let text = lines?.join("\n") + "\n";
    let (dialect, program) =
        text::parse(&text, &mut |digest| literals.data.get(&digest).cloned()).map_err(|error| error.to_string())?;
    let verify = DIALECTS.iter().find(|(name, _)| *name == dialect).map(|(_, verify)| verify);
    let verify = verify.ok_or_else(|| format!("there is no dialect `{dialect}`"))?;
    let all = |violations: Vec<Violation>| violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("\n");
    verify(program).map(|program| (dialect, program)).map_err(all)
}

/// The line of a constant with a digest in place of the literal; the rest of the text is copied.
fn with_digest(line: &str, literals: &mut Literals) -> Result<String, String> {
    let Some(constant) = Constant::of(line) else { return Ok(line.to_owned()) };
    let (scalar_type, count) = constant.elements().ok_or_else(|| format!("`{line}` has no type"))?;
    let data = ConstantData::new(literal::parse(scalar_type, count, constant.content)?);
    let digest = data.digest();
    literals.data.insert(digest, data);
    literals.written.insert((constant.spec.to_owned(), digest), constant.content.to_owned());
    Ok(format!("{}b3:{digest}", constant.before))
}

/// A printed program with literals in place of digests, without value numbers.
pub fn abbreviate(text: &str, program: &Program, literals: &Literals) -> String {
    let mut data: BTreeMap<Digest, &ConstantData> = BTreeMap::new();
    program
        .methods
        .values()
        .for_each(|graph| graph.for_each_data(&mut |constant| _ = data.insert(constant.digest(), constant)));
    let line = |line: &str| with_literal(&without_numbers(line), &data, literals) + "\n";
    text.lines().map(line).collect()
}

fn with_literal(line: &str, data: &BTreeMap<Digest, &ConstantData>, literals: &Literals) -> String {
    let constant = || {
        let constant = Constant::of(line)?;
        let hex = constant.content.strip_prefix("b3:")?;
        let digest = Digest::parse(hex)?;
        let written = literals.written.get(&(constant.spec.to_owned(), digest)).cloned();
        let (scalar_type, _) = constant.elements()?;
        let literal = written.or_else(|| literal::print(scalar_type, data.get(&digest)?.bytes()))?;
        let short = hex.get(..16)?;
        let cut = if literal.contains("...") { format!(" b3:{short}") } else { String::new() };
        // Names made of a digest of the elements are stable text in a golden file.
        Some(format!("{}{literal}{cut}", constant.before.replace(&format!("@{short}"), "@digest")))
    };
    constant().unwrap_or_else(|| line.to_owned())
}

/// The parts of the line of a constant or state.
struct Constant<'t> {
    /// The line up to the content.
    before: &'t str,
    /// Type and shape, such as `float32[2, 3]`.
    spec: &'t str,
    /// A digest or a literal.
    content: &'t str,
}

impl<'t> Constant<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let keyword = line.trim_start();
        if !keyword.starts_with("constant ") && !keyword.starts_with("state ") {
            return None;
        }
        let (_, spec) = line.split_once(": ")?;
        let spec = &spec[..=spec.find(']')?];
        let name_end = line.find("= \"")? + 3;
        let content = name_end + line[name_end..].find("\" ")? + 2;
        Some(Self { before: &line[..content], spec, content: &line[content..] })
    }

    /// The type and the number of elements.
    fn elements(&self) -> Option<(ScalarType, usize)> {
        let (name, sizes) = self.spec.strip_suffix(']')?.split_once('[')?;
        let sizes: Option<Vec<usize>> =
            sizes.split(", ").filter(|size| !size.is_empty()).map(|size| size.parse().ok()).collect();
        Some((ScalarType::from_name(name)?, sizes?.iter().product()))
    }
}

/// The line without the numbers of the values that it defines: `%y@7: float32[2]` becomes `%y: float32[2]`.
fn without_numbers(line: &str) -> String {
    let mut parts = line.split('@');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let is_number = digits > 0 && part[digits..].starts_with(": ");
        text += if is_number { &part[digits..] } else { "" };
        text += &if is_number { String::new() } else { format!("@{part}") };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_values_are_left_out_and_names_are_not() {
        let line = "  (%y@12: float32[2], %z: int64[]) = a.b.c(%\"@1\")";
        assert_eq!(without_numbers(line), "  (%y: float32[2], %z: int64[]) = a.b.c(%\"@1\")");
        assert_eq!(
            without_numbers("  constant %w@1: int8[1] = \"w@91d5\" b3:00"),
            "  constant %w: int8[1] = \"w@91d5\" b3:00"
        );
    }
}
