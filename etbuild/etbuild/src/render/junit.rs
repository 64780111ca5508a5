//! The results of units in the JUnit format: <https://github.com/testmoapp/junitxml>.

use etbuild_diagnostic::{Diagnostic, Severity};
use etbuild_engine::{UnitReport, Verification};

/// One test suite with a case for each unit; `found` has further findings, of a rebuild for example.
pub fn junit(reports: &[UnitReport], found: &[Diagnostic]) -> String {
    let mut cases: Vec<Case> = reports.iter().map(Case::of).collect();
    let said: Vec<&Diagnostic> = reports.iter().flat_map(|report| &report.diagnostics).collect();
    // A skipped verification is in `found` in other words.
    let more =
        found.iter().filter(|one| one.severity == Severity::Error && !said.contains(one) && !is_skip(one, reports));
    cases.extend(more.map(|diagnostic| Case {
        name: "etbuild".to_owned(),
        seconds: 0.0,
        outcome: failure(&[diagnostic]),
    }));
    let failures = cases.iter().filter(|case| case.outcome.contains("<failure")).count();
    let skipped = cases.iter().filter(|case| case.outcome.contains("<skipped")).count();
    let rows: String = cases.iter().map(Case::xml).collect();
    let counts = format!("tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\"", cases.len());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n<testsuite name=\"etbuild verify\" {counts}>\n{rows}\
         </testsuite>\n</testsuites>\n"
    )
}

fn is_skip(diagnostic: &Diagnostic, reports: &[UnitReport]) -> bool {
    let skipped = |report: &UnitReport| match &report.verification {
        Verification::Skipped { reason } => diagnostic.message.ends_with(&reason.message),
        Verification::Done(_) | Verification::None => false,
    };
    reports.iter().any(skipped)
}

struct Case {
    name: String,
    seconds: f64,
    outcome: String,
}

impl Case {
    fn of(report: &UnitReport) -> Self {
        let milliseconds: u64 = report.stages.iter().map(|row| row.milliseconds).sum();
        let errors: Vec<&Diagnostic> =
            report.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).collect();
        let outcome = match &report.verification {
            _ if !errors.is_empty() => failure(&errors),
            Verification::Skipped { reason } => format!("<skipped message=\"{}\"/>", escape(&reason.message)),
            Verification::Done(_) | Verification::None => String::new(),
        };
        let name = format!("{}@{}", report.recipe, report.target);
        Self { name, seconds: std::time::Duration::from_millis(milliseconds).as_secs_f64(), outcome }
    }

    fn xml(&self) -> String {
        let (name, seconds) = (escape(&self.name), self.seconds);
        format!("<testcase classname=\"etbuild\" name=\"{name}\" time=\"{seconds:.3}\">{}</testcase>\n", self.outcome)
    }
}

fn failure(errors: &[&Diagnostic]) -> String {
    let code = errors.first().map_or("", |error| error.code.id());
    let message = errors.first().map_or("", |error| error.message.as_str());
    let text: Vec<String> = errors.iter().map(|error| format!("{}: {}", error.code, error.paragraph())).collect();
    let (message, text) = (escape(message), escape(&text.join("\n")));
    format!("<failure type=\"{code}\" message=\"{message}\">{text}</failure>")
}

/// Text in an attribute or element. Control characters cannot stand in XML 1.0.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            character if character.is_control() => escaped.push('\u{fffd}'),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use etbuild_diagnostic::Code;

    use super::*;

    #[test]
    fn each_unit_is_a_case_and_texts_are_escaped() {
        let good = UnitReport::new("a", "t");
        let mut bad = UnitReport::new("b", "t");
        bad.diagnostics.push(Diagnostic::error(Code::AccuracyFailed, "1 < 2 & \"x\"\u{1b}"));
        let mut skipped = UnitReport::new("c", "t");
        let reason = Box::new(Diagnostic::error(Code::EmulatorMissing, "no emulator"));
        skipped.verification = Verification::Skipped { reason };
        let found =
            [bad.diagnostics[0].clone(), Diagnostic::error(Code::NotVerified, "c@t was not verified: no emulator")];
        let text = junit(&[good, bad, skipped], &found);
        assert!(text.contains("tests=\"3\" failures=\"1\" skipped=\"1\""), "{text}");
        assert!(text.contains("<failure type=\"ETB0702\" message=\"1 &lt; 2 &amp; &quot;x&quot;\u{fffd}\">"), "{text}");
        assert!(text.contains("name=\"a@t\" time=\"0.000\"></testcase>"), "{text}");
    }
}
