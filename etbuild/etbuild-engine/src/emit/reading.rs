//! The named data of a program file about files of inputs and names of classes.

use std::collections::BTreeMap;

use et_module::LABELS_KEY;
use et_module::preprocess::{PREPROCESS_KEY, Preprocess, to_text};
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{Graph, PlannedProgram};
use etbuild_recipe::Model;
use etbuild_store::KeyBuilder;
use etbuild_yaml::{quote, suggest};

use crate::action::Keyed;
use crate::input::{DataFile, Db, HashedFile};

/// Preprocessing and labels, as a recipe states them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReadingOptions {
    /// The preprocessing of inputs in the form of [`to_text`]; empty for none.
    pub preprocess: String,
    /// The names of the classes.
    pub labels: Option<LabelsFile>,
}

/// A file with a name of a class per line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LabelsFile {
    /// The file.
    pub file: DataFile,
    /// Whether the recipe names the file. A file that is only found beside the model is left out where it does not fit.
    pub is_stated: bool,
}

impl ReadingOptions {
    /// Preprocessing and labels.
    pub fn new(preprocess: &BTreeMap<String, Preprocess>, labels: Option<LabelsFile>) -> Self {
        Self { preprocess: to_text(preprocess), labels }
    }
}

/// Preprocessing and labels as the input of an action.
pub struct Reading {
    preprocess: String,
    labels: Option<(HashedFile, bool)>,
}

impl Reading {
    /// The contents of the options.
    ///
    /// # Errors
    /// A file of labels that cannot be read.
    pub fn of(db: &dyn Db, options: ReadingOptions) -> Result<Self, Diagnostic> {
        let hashed = |LabelsFile { file, is_stated }| {
            let hashed = HashedFile::of(db, file).map_err(|error| {
                let message = format!("`{}` cannot be read: {error}", file.path(db).display());
                Diagnostic::error(Code::FileUnreadable, message)
            })?;
            Ok::<_, Diagnostic>((hashed, is_stated))
        };
        Ok(Self { preprocess: options.preprocess, labels: options.labels.map(hashed).transpose()? })
    }

    /// Whether pictures or recordings are inputs.
    pub const fn has_media(&self) -> bool {
        !self.preprocess.is_empty()
    }

    /// The named data of the program, by key.
    ///
    /// # Errors
    /// Preprocessing of an input that the main method lacks; labels that are stated and do not fit; a changed file.
    pub fn named_data(
        &self,
        db: &dyn Db,
        program: &PlannedProgram,
    ) -> Result<BTreeMap<String, Vec<u8>>, Vec<Diagnostic>> {
        let methods = &program.program().program().methods;
        let Some(method) = methods.get(Model::METHOD).or_else(|| methods.values().next()) else {
            return Ok(BTreeMap::new());
        };
        let unknown: Vec<Diagnostic> = self.names().filter_map(|name| unknown_input(method, name)).collect();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let preprocess = self.has_media().then(|| (PREPROCESS_KEY.to_owned(), self.preprocess.clone().into_bytes()));
        let labels = self.labels(db, method)?.map(|labels| (LABELS_KEY.to_owned(), labels.into_bytes()));
        Ok(preprocess.into_iter().chain(labels).collect())
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.preprocess.lines().filter_map(|line| line.split('\t').next())
    }

    /// The text of the labels, a line each.
    fn labels(&self, db: &dyn Db, method: &Graph) -> Result<Option<String>, Vec<Diagnostic>> {
        let Some((file, is_stated)) = self.labels else { return Ok(None) };
        let name = || file.path(db).display().to_string();
        let Ok(text) = String::from_utf8(file.read(db)?) else {
            let message = format!("`{}` is not UTF-8 text", name());
            return if is_stated { Err(vec![mismatch(message)]) } else { Ok(None) };
        };
        let labels: Vec<&str> = text.trim_end().lines().map(str::trim).collect();
        let sizes = method.outputs.first().map(|id| method.spec(*id).sizes.clone()).unwrap_or_default();
        match sizes[..] {
            [classes] | [_, classes] if usize::try_from(classes) == Ok(labels.len()) => {
                Ok(Some(labels.join("\n") + "\n"))
            }
            _ if !is_stated => Ok(None),
            _ => {
                let count = labels.len();
                let message =
                    format!("`{}` names {count} classes, and the first output has the sizes {sizes:?}", name());
                Err(vec![mismatch(message)])
            }
        }
    }
}

impl Keyed for Reading {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { preprocess, labels } = self;
        let key = key.option("inputs", preprocess.as_str());
        labels
            .iter()
            .fold(key, |key, (file, is_stated)| key.input("labels", file.digest).option("labels.stated", *is_stated))
    }
}

fn unknown_input(method: &Graph, name: &str) -> Option<Diagnostic> {
    let names: Vec<&str> = method.inputs.iter().map(|id| method.value(*id).name.as_str()).collect();
    if names.contains(&name) {
        return None;
    }
    let message = format!("the model has no input {}", quote(name));
    let help = match suggest(name, names.iter().copied()) {
        Some(near) => format!("did you mean {}?", quote(near)),
        None => format!("its inputs are {}", names.join(", ")),
    };
    Some(Diagnostic::error(Code::InputsMismatch, message).help(help))
}

fn mismatch(message: String) -> Diagnostic {
    let help = "write the name of each class on a line, in the order of the scores `[cases, classes]`";
    Diagnostic::error(Code::LabelsMismatch, message).help(help)
}
