//! Where output goes, and in which form.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use etbuild_diagnostic::{Diagnostic, render, unwritable};
use etbuild_system::System;
use indicatif::MultiProgress;
use serde_json::Value;

use crate::arguments::{Global, Output, When};

/// Standard output for results, standard error for messages.
#[derive(Clone)]
pub struct Terminal {
    output: Output,
    colour: bool,
    interactive: bool,
    bars: MultiProgress,
    lost: Arc<OnceLock<io::Error>>,
}

impl Terminal {
    /// Looks at the arguments, the environment and the streams.
    pub fn new(global: &Global, system: &dyn System) -> Self {
        let set = |name: &str| system.variable(name).is_some_and(|value| !value.is_empty());
        let terminal = io::stderr().is_terminal();
        let colour = match global.color {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && !set("NO_COLOR"),
        };
        let interactive = terminal && !set("CI");
        Self { output: global.output, colour, interactive, bars: MultiProgress::new(), lost: Arc::default() }
    }

    /// Whether a user watches: progress bars make sense.
    pub fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// The bars that share the terminal with messages.
    pub fn bars(&self) -> &MultiProgress {
        &self.bars
    }

    /// Writes a result.
    pub fn result(&self, text: &str) {
        match self.bars.suspend(|| print(&mut io::stdout(), text)) {
            // A reader that has gone, as `head` goes, wants no more: that is no failure.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => drop(self.lost.set(error)),
            _ => {}
        }
    }

    /// The failure of a result that was not written, as on a full disk.
    pub fn lost(&self) -> Option<Diagnostic> {
        self.lost.get().map(|error| unwritable(Path::new("standard output"), error))
    }

    /// Prints a message on the progress.
    pub fn say(&self, text: &str) {
        // Nobody can be told that messages are lost.
        let _ = self.bars.suspend(|| print(&mut io::stderr(), text));
    }

    /// Tells of a failure on standard error, whatever the form of results.
    pub fn warn(&self, diagnostic: &Diagnostic) {
        self.say(&render::human(std::slice::from_ref(diagnostic), self.colour));
    }

    /// Writes a result: `value` for programs, `text` for people.
    pub fn present(&self, value: &Value, text: &str) {
        match self.output {
            Output::Json => self.result(&value.to_string()),
            Output::Human | Output::Github => self.result(text),
            Output::Sarif => {}
        }
    }

    /// Writes the result of a success: `value`, an object, gets the fields that every result has.
    pub fn succeed(&self, schema: &str, value: Value, text: &str) {
        let mut result = serde_json::json!({ "schema": format!("etbuild.{schema}/1"), "ok": true });
        if let (Some(fields), Value::Object(value)) = (result.as_object_mut(), value) {
            fields.extend(value);
        }
        self.present(&result, text);
    }

    /// Reports diagnostics without another result.
    pub fn report(&self, diagnostics: &[Diagnostic]) {
        if self.output == Output::Json {
            let values: Vec<Value> = diagnostics.iter().map(render::json).collect();
            let envelope = serde_json::json!({ "schema": "etbuild.result/1", "ok": false, "diagnostics": values });
            self.result(&envelope.to_string());
        } else {
            self.explain(diagnostics);
        }
    }

    /// Shows diagnostics beside a result, which holds the diagnostics in JSON.
    pub fn explain(&self, diagnostics: &[Diagnostic]) {
        match self.output {
            Output::Json => {}
            Output::Sarif => self.result(&render::sarif(diagnostics).to_string()),
            Output::Github | Output::Human if diagnostics.is_empty() => {}
            Output::Github => self.result(&render::github(diagnostics)),
            Output::Human => self.say(&render::human(diagnostics, self.colour)),
        }
    }
}

fn print(stream: &mut impl Write, text: &str) -> io::Result<()> {
    writeln!(stream, "{}", text.trim_end_matches('\n'))?;
    stream.flush()
}
