//! `extends:`: merges a file over its base files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_yaml::{Node, Source, Spanned, Value, limits, parse, read};

use crate::RecipeFiles;
use crate::file_path::normal;
use crate::merge::merge;

/// The limit of files per recipe.
const FILES: usize = 64;

/// Reads and merges files, and records the files that it read.
pub struct Extender<'a> {
    files: &'a dyn RecipeFiles,
    /// The files that are being read, outermost first.
    chain: Vec<PathBuf>,
    /// The number of reads; a file that is extended twice counts twice.
    reads: usize,
    /// Every file read so far, with its text, in the order of reading.
    pub read: Vec<(PathBuf, Arc<str>)>,
}

impl<'a> Extender<'a> {
    pub fn new(files: &'a dyn RecipeFiles) -> Self {
        Self { files, chain: Vec::new(), reads: 0, read: Vec::new() }
    }

    /// The merged tree of the file at `path`. `named_at` is the place that names the file.
    pub fn tree(&mut self, path: &Path, named_at: Span) -> Result<Node, Vec<Diagnostic>> {
        self.check(path, &named_at).map_err(|error| vec![error])?;
        let text = self.files.text(path).map_err(|error| vec![error.at(named_at)])?;
        self.remember(path, &text);
        let mut tree = parse(&Source::file(path.display().to_string(), text)).map_err(|error| vec![error])?;
        let bases = take_extends(&mut tree)?;
        self.chain.push(path.to_owned());
        let base = self.bases(path, bases)?;
        self.chain.pop();
        let merged = base.map_or(tree.clone(), |base| merge(base, tree));
        check_size(&merged).map_err(|error| vec![error])?;
        Ok(merged)
    }

    /// The merged tree of the files that `path` extends, in order.
    fn bases(&mut self, path: &Path, bases: Vec<Spanned<String>>) -> Result<Option<Node>, Vec<Diagnostic>> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut merged: Option<Node> = None;
        for base in bases {
            let tree = self.tree(&normal(&folder.join(&base.value)), *base.span)?;
            merged = Some(match merged {
                Some(below) => merge(below, tree),
                None => tree,
            });
        }
        Ok(merged)
    }

    fn remember(&mut self, path: &Path, text: &Arc<str>) {
        self.reads += 1;
        if self.read.iter().all(|(known, _)| known != path) {
            self.read.push((path.to_owned(), Arc::clone(text)));
        }
    }

    fn check(&self, path: &Path, named_at: &Span) -> Result<(), Diagnostic> {
        if self.chain.iter().any(|open| open == path) {
            return Err(cycle(&self.chain, path).at(named_at.clone()));
        }
        if self.reads < FILES {
            return Ok(());
        }
        let message = format!("`extends:` reads more than {FILES} files");
        Err(Diagnostic::error(Code::ExtendsCycle, message).at(named_at.clone()).help("extend fewer files"))
    }
}

/// Removes `extends:` from a tree and returns its files.
fn take_extends(tree: &mut Node) -> Result<Vec<Spanned<String>>, Vec<Diagnostic>> {
    let Value::Map(map) = &mut tree.value else { return Ok(Vec::new()) };
    match map.remove("extends").map(|entry| entry.value) {
        None => Ok(Vec::new()),
        Some(list @ Node { value: Value::List(_), .. }) => read(&list),
        Some(file) => read(&file).map(|file| vec![file]),
    }
}

fn cycle(chain: &[PathBuf], path: &Path) -> Diagnostic {
    let names = chain.iter().map(PathBuf::as_path).skip_while(|open| *open != path).chain([path]);
    let shown: Vec<String> = names.map(|name| name.display().to_string()).collect();
    let message = format!("`{}` extends itself", path.display());
    let diagnostic = Diagnostic::error(Code::ExtendsCycle, message).help("remove one of the `extends:`");
    diagnostic.note(format!("cycle: {}", shown.join(" -> ")))
}

/// Applies the node limit of a file to a merged tree.
fn check_size(tree: &Node) -> Result<(), Diagnostic> {
    if count(tree) <= limits::NODES {
        return Ok(());
    }
    let message = format!("the recipe has more than {} nodes after `extends:`", limits::NODES);
    Err(Diagnostic::error(Code::TooManyNodes, message).at(tree.place.span()).help("extend fewer files"))
}

/// Nodes in a tree. Recursion is bounded by the depth limit of the parser.
fn count(node: &Node) -> usize {
    let inside: usize = match &node.value {
        Value::List(items) => items.iter().map(count).sum(),
        Value::Map(map) => map.entries.iter().map(|entry| count(&entry.value)).sum(),
        _ => 0,
    };
    inside.saturating_add(1)
}
