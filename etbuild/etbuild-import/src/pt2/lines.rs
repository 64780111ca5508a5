//! The lines of the user's Python that compute the values of an archive.

use std::collections::BTreeMap;
use std::fmt;

use super::model::{Argument, GraphBody, Metadata, Node};
use super::{Bytes, archive, model};
use crate::ImportError;

/// A line of Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as the archive names it.
    pub file: String,
    /// The number of the line, counted from 1.
    pub line: u32,
    /// The line itself; empty where the archive has none.
    pub code: String,
}

impl fmt::Display for SourceLine {
    /// `net.py:7: return self.conv(x)`, with the name of the file alone.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        write!(formatter, "{name}:{}", self.line)?;
        if self.code.is_empty() { Ok(()) } else { write!(formatter, ": {}", self.code) }
    }
}

/// The line of each value of an archive, by the name of the value. Values without a stack trace are left out.
///
/// # Errors
/// Bytes that are no archive.
pub fn source_lines(bytes: Bytes) -> Result<BTreeMap<String, SourceLine>, ImportError> {
    let archive = archive::Archive::open(bytes)?;
    let model = model::read(&archive)?;
    let mut lines = BTreeMap::new();
    add(&model.graph_module.graph, &mut lines);
    Ok(lines)
}

fn add(graph: &GraphBody, lines: &mut BTreeMap<String, SourceLine>) {
    for node in &graph.nodes {
        if let Some(line) = node.metadata.line() {
            names(node).for_each(|name| _ = lines.entry(name.to_owned()).or_insert_with(|| line.clone()));
        }
        for input in &node.inputs {
            if let Argument::AsGraph(nested) = &input.arg {
                add(&nested.graph, lines);
            }
        }
    }
}

fn names(node: &Node) -> impl Iterator<Item = &str> {
    node.outputs.iter().flat_map(|output| output.names().chain(output.number()))
}

impl Metadata {
    /// The innermost line outside PyTorch; the innermost line where all frames are in PyTorch.
    fn line(&self) -> Option<SourceLine> {
        let frames: Vec<SourceLine> = self.stack_trace.as_deref()?.split("File \"").skip(1).filter_map(frame).collect();
        let own = frames.iter().rfind(|frame| !is_of_torch(&frame.file));
        own.or(frames.last()).cloned()
    }
}

/// A frame behind `File "`: `model.py", line 7, in forward`, and the line itself.
fn frame(text: &str) -> Option<SourceLine> {
    let (place, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (file, place) = place.split_once("\", line ")?;
    let digits: String = place.chars().take_while(char::is_ascii_digit).collect();
    let code = rest.lines().next().unwrap_or_default().trim().to_owned();
    Some(SourceLine { file: file.to_owned(), line: digits.parse().ok()?, code })
}

fn is_of_torch(file: &str) -> bool {
    let file = file.replace('\\', "/");
    ["/torch/nn/", "/torch/_", "/torch/utils/", "/torch/export/"].iter().any(|folder| file.contains(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(trace: &str) -> Option<SourceLine> {
        Metadata { stack_trace: Some(trace.to_owned()), ..Metadata::default() }.line()
    }

    #[test]
    fn the_line_is_the_user_s() {
        let trace = "  File \"net.py\", line 7, in forward\n    return self.conv(x)\n  File \"/site/torch/nn/modules/conv.py\", line 554, in forward\n    return self._conv_forward(x)\n";
        let wanted = SourceLine { file: "net.py".to_owned(), line: 7, code: "return self.conv(x)".to_owned() };
        assert_eq!(line(trace), Some(wanted));
    }

    #[test]
    fn a_trace_without_frames_has_no_line() {
        assert_eq!((line(""), line("File \"a.py\"\n x")), (None, None));
    }
}
