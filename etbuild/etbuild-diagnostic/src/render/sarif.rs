//! For code-scanning services: SARIF 2.1.0.
//!
//! Format: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::{Code, CodeInfo, Diagnostic, Severity, Span};

/// All diagnostics as a SARIF log with one run.
pub fn sarif(diagnostics: &[Diagnostic]) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver() },
            "columnKind": "unicodeCodePoints",
            "results": diagnostics.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn driver() -> Value {
    json!({
        "name": "etbuild",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": Code::TABLE.iter().map(rule).collect::<Vec<_>>(),
    })
}

fn rule(info: &CodeInfo) -> Value {
    json!({
        "id": info.id,
        "shortDescription": { "text": info.title },
        "fullDescription": { "text": info.summary },
        "help": { "text": info.code.explanation().fix },
    })
}

fn result(diagnostic: &Diagnostic) -> Value {
    json!({
        "ruleId": diagnostic.code,
        "ruleIndex": diagnostic.code as usize,
        "level": level(diagnostic.severity),
        "message": { "text": diagnostic.paragraph() },
        "locations": diagnostic.span.as_deref().and_then(location).into_iter().collect::<Vec<_>>(),
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn location(span: &Span) -> Option<Value> {
    let file = span.file.as_deref()?;
    Some(json!({ "physicalLocation": { "artifactLocation": { "uri": uri(file) }, "region": region(span) } }))
}

fn region(span: &Span) -> Value {
    json!({
        "startLine": span.start.line,
        "startColumn": span.start.column,
        "endLine": span.end.line,
        "endColumn": span.end.column,
    })
}

/// A path as a relative or `file:` URI reference (RFC 3986).
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => push_escaped(&mut uri, byte),
        }
    }
    uri
}

fn push_escaped(uri: &mut String, byte: u8) {
    // Writing to a string cannot fail.
    let _ = write!(uri, "%{byte:02X}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample::unknown_key;

    #[test]
    fn a_result_points_at_its_rule_and_place() {
        let log = sarif(&[unknown_key()]);
        let run = &log["runs"][0];
        let result = &run["results"][0];
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "my%20recipes/a%2Cb.yaml");
        assert_eq!(place["region"]["startLine"], 4);
    }

    #[test]
    fn a_diagnostic_without_a_place_has_no_location() {
        let log = sarif(&[Diagnostic::error(Code::DiskFull, "full")]);
        assert_eq!(log["runs"][0]["results"][0]["locations"], json!([]));
    }
}
