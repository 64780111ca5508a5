//! Text to tree.

use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic, Position};
use granit_parser::{ErrorKind, Event, Marker, Parser, ScanError};

use crate::builder::{Builder, too_deep};
use crate::{Node, Place, Source, limits};

/// Parses the YAML document in `source`. An empty text is [`crate::Value::Null`].
///
/// # Errors
/// The first syntax error, or the first limit of [`limits`] that the text exceeds.
pub fn parse(source: &Arc<Source>) -> Result<Node, Diagnostic> {
    parse_after(source, "")
}

/// Parses the YAML document after `prefix`, the start of the first line of `source`.
///
/// # Errors
/// The same as of [`parse`].
pub fn parse_after(source: &Arc<Source>, prefix: &str) -> Result<Node, Diagnostic> {
    if source.text().len() as u64 > limits::FILE_BYTES {
        return Err(too_large(source));
    }
    let places = Places { source, shift: prefix.chars().count() };
    let text = source.text().strip_prefix(prefix).unwrap_or_default();
    let mut builder = Builder::new(source);
    for event in Parser::new_from_str_with_options(text, options()) {
        let (event, span) = event.map_err(|error| places.syntax(&error))?;
        build(&mut builder, event, places.place(span.start, span.end))?;
    }
    Ok(builder.finish())
}

/// Converts the parser's positions to places.
struct Places<'a> {
    source: &'a Arc<Source>,
    /// Characters of the first line that the parser does not see.
    shift: usize,
}

impl Places<'_> {
    fn place(&self, start: Marker, end: Marker) -> Place {
        Place::new(self.source, self.position(start), self.position(end))
    }

    fn position(&self, marker: Marker) -> Position {
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let shift = if marker.line() == 1 { self.shift } else { 0 };
        Position::new(narrow(marker.line()), narrow(marker.col().saturating_add(shift).saturating_add(1)))
    }

    fn syntax(&self, error: &ScanError) -> Diagnostic {
        let place = self.place(*error.marker(), *error.marker());
        if let Some(tab) = self.tab(self.position(*error.marker())) {
            let message = "a tab stands in the indentation";
            return Diagnostic::error(Code::YamlSyntax, message).at(tab.span()).help("indent with spaces");
        }
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => too_deep(&place),
            kind => Diagnostic::error(Code::YamlSyntax, error.info()).at(place.span()).help(syntax_help(kind)),
        }
    }

    /// The tab in the indentation of the line with the error, or of the next line that is not blank: the parser stops ahead of
    /// the tab.
    fn tab(&self, error: Position) -> Option<Place> {
        let lines = (1..).zip(self.source.text().lines()).skip(error.line.saturating_sub(1) as usize);
        let mut near = lines.filter(|(_, line)| !line.trim().is_empty()).take(2);
        near.find_map(|(number, line)| {
            let column = (1..).zip(line.chars().take_while(|character| character.is_whitespace()));
            let (column, _) = column.into_iter().find(|(_, character)| *character == '\t')?;
            let start = Position::new(number, column);
            Some(Place::new(self.source, start, start))
        })
    }
}

fn options() -> granit_parser::Options {
    granit_parser::options! {
        flow_nesting_limit: limits::DEPTH,
        block_nesting_limit: limits::DEPTH,
        emit_comments: false,
    }
}

fn build(builder: &mut Builder<'_>, event: Event<'_>, place: Place) -> Result<(), Diagnostic> {
    if event.tag().is_some() {
        let message = "YAML tags are not supported";
        return Err(Diagnostic::error(Code::YamlSyntax, message).at(place.span()).help("remove the `!...`"));
    }
    match event {
        Event::Scalar(text, style, anchor, _) => builder.scalar(&text, style, anchor, place),
        Event::SequenceStart(_, anchor, _) => builder.open_list(anchor, place),
        Event::MappingStart(_, anchor, _) => builder.open_map(anchor, place),
        Event::SequenceEnd | Event::MappingEnd => builder.close(),
        Event::Alias(anchor) => builder.alias(anchor, place),
        Event::DocumentStart(..) => builder.document(place),
        _ => Ok(()),
    }
}

fn syntax_help(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation | ErrorKind::TabInIndentation => {
            "write spaces, not tabs"
        }
        ErrorKind::UnknownAnchor => "define the anchor `&name` before the alias `*name`",
        ErrorKind::UnclosedFlowCollection { open: '[' } => "close the list with `]`",
        ErrorKind::UnclosedFlowCollection { .. } => "close the map with `}`",
        ErrorKind::UnclosedQuotedScalar => "close the quotation mark",
        kind if kind.to_string().contains("quoted scalar") => "close the quotation mark in a line above",
        _ => "quote a text that contains `: `, `#`, `{`, `[`, `&`, `*` or `!`, and align keys of one map",
    }
}

fn too_large(source: &Arc<Source>) -> Diagnostic {
    let message = format!("the file has {} bytes; the limit is 1 MiB", source.text().len());
    Diagnostic::error(Code::FileTooLarge, message)
        .at(Place::start_of(source).span())
        .help("check that this is the intended file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    fn tree(text: &str) -> Result<Node, Diagnostic> {
        parse(&Source::file("a.yaml", text.into()))
    }

    fn failure(text: &str) -> (Code, Position) {
        let diagnostic = tree(text).unwrap_err();
        assert!(diagnostic.help.is_some());
        (diagnostic.code, diagnostic.span.unwrap().start)
    }

    #[test]
    fn every_node_knows_its_place() {
        let Value::Map(map) = tree("a: 1\nbé: [x, 'y']\n").unwrap().value else { panic!("a map") };
        let Value::List(items) = &map.get("bé").unwrap().value else { panic!("a list") };
        let span = items[1].place.span();
        assert_eq!((span.start, span.end), (Position::new(2, 9), Position::new(2, 12)));
        assert_eq!(span.excerpt.as_deref(), Some("bé: [x, 'y']"));
    }

    #[test]
    fn an_empty_value_is_null() {
        assert_eq!(tree("").unwrap().value, Value::Null);
        assert_eq!(tree("# only a comment\n").unwrap().value, Value::Null);
    }

    #[test]
    fn aliases_repeat_their_anchors() {
        let Value::Map(map) = tree("a: &x [1, 2]\nb: *x\n").unwrap().value else { panic!("a map") };
        let numbers = |key| match &map.get(key).unwrap().value {
            Value::List(items) => items.iter().map(|item| item.value.clone()).collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        assert_eq!(numbers("a"), [Value::Integer(1), Value::Integer(2)]);
        assert_eq!(numbers("a"), numbers("b"));
    }

    #[test]
    fn a_key_may_stand_once() {
        assert_eq!(failure("a: 1\nb: 2\na: 3\n"), (Code::DuplicateKey, Position::new(3, 1)));
    }

    #[test]
    fn brackets_past_the_depth_limit_are_refused_where_they_pass_it() {
        assert!(tree(&format!("{}{}", "[".repeat(64), "]".repeat(64))).is_ok());
        assert_eq!(failure(&"[".repeat(200_000)), (Code::TooDeep, Position::new(1, 65)));
        assert_eq!(failure(&"- ".repeat(2_000)).0, Code::TooDeep);
        assert_eq!(failure(&"{a: ".repeat(2_000)).0, Code::TooDeep);
    }

    #[test]
    fn a_bomb_is_refused() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..10 {
            let uses = vec![format!("*a{}", level - 1); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{uses}]\n"));
        }
        let (code, position) = failure(&text);
        assert_eq!((code, position.line), (Code::TooManyNodes, 4));
    }

    #[test]
    fn aliases_and_nodes_are_counted() {
        let aliases = format!("a: &x 1\nb: [{}]", "*x, ".repeat(101));
        assert_eq!(failure(&aliases), (Code::TooManyAliases, Position::new(2, 5 + 4 * 100)));
        assert_eq!(failure(&"- 1\n".repeat(30_000)).0, Code::TooManyNodes);
    }

    #[test]
    fn an_alias_cannot_reach_past_the_depth_limit() {
        let mut text = String::from("a0: &a0 [x]\n");
        for level in 1..70 {
            text.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
        }
        assert_eq!(failure(&text).0, Code::TooDeep);
    }

    #[test]
    fn syntax_errors_have_a_place() {
        assert_eq!(failure("a: [1, 2\nb: 3\n").0, Code::YamlSyntax);
        assert_eq!(failure("a: *nothing\n"), (Code::YamlSyntax, Position::new(1, 4)));
        assert_eq!(failure("a: !!str 1\n").0, Code::YamlSyntax);
        assert_eq!(failure("a: 1\n---\nb: 1\n"), (Code::YamlSyntax, Position::new(2, 1)));
        assert_eq!(failure("? [a]\n: 1\n"), (Code::WrongType, Position::new(1, 3)));
    }

    #[test]
    fn a_file_past_the_size_limit_is_not_parsed() {
        assert_eq!(failure(&" ".repeat(2 << 20)), (Code::FileTooLarge, Position::START));
    }
}
