//! One input and the answer to it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use etbuild_yaml::{Source, parse, read};
use serde::Deserialize;
use serde_json::Value;

use super::files;
use crate::support::{MODEL, Place, Ran, repository};

/// A recipe without mistakes. Line 3 is its model, line 4 its targets.
const GOOD: &str = "etbuild: 1\nname: digits\nmodel: { pt2: digits.pt2 }\ntargets: [pico2]\n";

/// What is given, and what is said. The folder has `digits.pt2`, a good model, and `test.safetensors`, its data.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// A few words.
    what: String,
    /// Further files: their text, or a file of another tool by its name in [`files::make`].
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// `r.yaml` is the good recipe with the second text in place of the first, and with `append` behind it.
    #[serde(default)]
    replace: Vec<String>,
    #[serde(default)]
    append: String,
    /// The words of the command line.
    run: String,
    /// The exit status.
    status: i32,
    /// The code; left out for messages of the command line's own reader.
    #[serde(default)]
    code: String,
    /// `file:line:column`, without the file for the command line; left out where there is no place.
    #[serde(default)]
    at: String,
    /// Part of the sentence.
    says: String,
    /// Part of the hint.
    hint: String,
}

impl Case {
    /// The rows of a table.
    pub fn table(name: &str, text: &str) -> Vec<Self> {
        let tree = parse(&Source::file(name, text.into())).unwrap();
        read(&tree).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
    }

    /// What is wrong with the answer.
    pub fn fault(&self) -> Option<String> {
        let place = self.place();
        let json = place.run(&format!("{} --output json", self.run));
        let human = place.run(&self.run);
        let panics = [&json.stderr, &human.stderr].iter().any(|text| text.contains("panicked"));
        let fault = if panics { Some("a panic".to_owned()) } else { self.fault_of(&json, &human) };
        Some(format!("- {} (`{}`): {}\n{}", self.what, self.run, fault?, human.stderr.trim_end()))
    }

    fn fault_of(&self, json: &Ran, human: &Ran) -> Option<String> {
        if json.status != self.status || human.status != self.status {
            return Some(format!("status {} and {}, not {}", json.status, human.status, self.status));
        }
        if self.code.is_empty() {
            return self.missing(&human.stderr, &human.stderr);
        }
        let result: Value = serde_json::from_str(&json.stdout).unwrap_or_default();
        let found = first(&result);
        let text = |key: &str| found[key].as_str().unwrap_or_default();
        if text("code") != self.code {
            return Some(format!("code {}, not {}", text("code"), self.code));
        }
        let at = at(&found["span"]);
        if at != self.at {
            return Some(format!("place `{at}`, not `{}`", self.at));
        }
        if !human.stderr.contains(&format!("error[{}]", self.code)) {
            return Some("the code is not shown".to_owned());
        }
        self.missing(text("message"), text("help"))
    }

    fn missing(&self, sentence: &str, hint: &str) -> Option<String> {
        if !sentence.contains(&self.says) {
            return Some(format!("the sentence lacks `{}`", self.says));
        }
        (hint.is_empty() || !hint.contains(&self.hint)).then(|| format!("the hint lacks `{}`: {hint}", self.hint))
    }

    fn place(&self) -> Place {
        let mut place = Place::cold();
        let copy = |from: &str, to: &str| fs::copy(repository().join(from), place.path().join(to)).unwrap();
        copy(MODEL, "digits.pt2");
        copy("examples/digits/test.safetensors", "test.safetensors");
        if let [from, to] = &self.replace[..] {
            assert!(GOOD.contains(from), "{from}");
            place.file("r.yaml", GOOD.replace(from, to) + &self.append);
        } else if !self.append.is_empty() {
            place.file("r.yaml", GOOD.to_owned() + &self.append);
        }
        self.files.iter().for_each(|(name, content)| lay(&place.path().join(name), content));
        place.root = place.path().to_owned();
        place
    }
}

/// Puts a file at a path: one of another tool where the content is such a name in angle brackets, else the text.
fn lay(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match content.strip_prefix('<').and_then(|name| name.strip_suffix('>')) {
        Some("folder") => fs::create_dir_all(path).unwrap(),
        Some("pipe") => drop(Ran::of(std::process::Command::new("mkfifo").arg(path)).expect(0)),
        Some("good recipe") => fs::write(path, GOOD).unwrap(),
        Some(name) => match name.strip_prefix("link to ") {
            Some("a checkpoint") => {
                std::os::unix::fs::symlink(repository().join("examples/tiny-llama/model"), path).unwrap();
            }
            Some(to) => std::os::unix::fs::symlink(to, path).unwrap(),
            None => fs::write(path, files::make(name)).unwrap(),
        },
        None => fs::write(path, content).unwrap(),
    }
}

/// The first diagnostic of a result, which may be one of a unit.
fn first(result: &Value) -> &Value {
    let of_units = result["units"].as_array().into_iter().flatten().map(|unit| &unit["diagnostics"][0]);
    let mut found = std::iter::once(&result["diagnostics"][0]).chain(of_units);
    found.find(|found| found.is_object()).unwrap_or(&Value::Null)
}

fn at(span: &Value) -> String {
    if span.is_null() {
        return String::new();
    }
    let start = &span["start"];
    format!("{}:{}:{}", span["file"].as_str().unwrap_or_default(), start["line"], start["column"])
}
