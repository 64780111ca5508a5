//! Machine-readable output: a JSON object per diagnostic.

use serde_json::Value;

use crate::Diagnostic;

/// The diagnostic as a JSON object: `code`, `severity`, `message`, `span`, `help`, `notes`.
pub fn json(diagnostic: &Diagnostic) -> Value {
    let span = diagnostic.span.as_deref();
    serde_json::json!({
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "span": span,
        "help": diagnostic.help,
        "notes": diagnostic.notes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample::unknown_key;

    #[test]
    fn an_object_has_the_place_and_the_code() {
        let object = json(&unknown_key());
        assert_eq!(object["code"], "ETB0107");
        assert_eq!(object["severity"], "error");
        assert_eq!(object["span"]["start"], serde_json::json!({ "line": 4, "column": 1 }));
        assert_eq!(object["span"]["file"], "my recipes/a,b.yaml");
    }
}
