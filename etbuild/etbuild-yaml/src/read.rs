//! A tree to a typed value, with every mistake reported.

use etbuild_diagnostic::Diagnostic;
use serde::de::DeserializeOwned;

use crate::deserializer::NodeDeserializer;
use crate::error::{Error, Kind, Step};
use crate::{Map, Node, Value, limits};

/// Deserializes a `T` from a tree.
///
/// serde stops at the first mistake. To report every mistake, `read` removes the faulty node from a copy of the tree
/// and reads the copy again, up to [`limits::REPORTED`] times; a key that is missing because of a removal is not
/// reported.
///
/// # Errors
/// The mistakes in the tree, at least one.
pub fn read<T: DeserializeOwned>(root: &Node) -> Result<T, Vec<Diagnostic>> {
    read_rest(root, &[])
}

/// Deserializes a `T` from a tree from which the keys `taken` were removed earlier; hints on keys list these keys too.
///
/// # Errors
/// The same as of [`read`].
pub fn read_rest<T: DeserializeOwned>(root: &Node, taken: &[&'static str]) -> Result<T, Vec<Diagnostic>> {
    match T::deserialize(NodeDeserializer { node: root }) {
        Ok(value) => Ok(value),
        Err(first) => Err(collect::<T>(root, taken, first)),
    }
}

fn collect<T: DeserializeOwned>(root: &Node, taken: &[&'static str], first: Error) -> Vec<Diagnostic> {
    let mut tree = root.clone();
    let mut removed: Vec<Vec<Step>> = Vec::new();
    let mut diagnostics = Vec::new();
    let mut next = Some(first);
    while let Some(mut error) = next.take().filter(|_| removed.len() < limits::REPORTED) {
        error.path.reverse();
        let path = error.path.clone();
        if !is_consequence(&error, &removed) {
            diagnostics.push(error.with_root_keys(taken).into_diagnostic(&root.place));
        }
        if !remove(&mut tree, &path) {
            break;
        }
        removed.push(path);
        next = T::deserialize(NodeDeserializer { node: &tree }).err();
    }
    diagnostics
}

/// Whether a removal inside the same map caused the error.
fn is_consequence(error: &Error, removed: &[Vec<Step>]) -> bool {
    let lacks = matches!(error.kind, Kind::MissingKey(_) | Kind::OneKey { .. });
    lacks && removed.iter().any(|path| path.len() == error.path.len() + 1 && path.starts_with(&error.path))
}

/// Removes the node at `path`; false for an absent node or the root.
fn remove(node: &mut Node, path: &[Step]) -> bool {
    match (path, &mut node.value) {
        ([Step::Key(key)], Value::Map(map)) => map.remove(key).is_some(),
        ([Step::Index(index)], Value::List(items)) if *index < items.len() => {
            items.remove(*index);
            true
        }
        ([Step::Key(key), rest @ ..], Value::Map(map)) => value_of(map, key).is_some_and(|node| remove(node, rest)),
        ([Step::Index(index), rest @ ..], Value::List(items)) => {
            items.get_mut(*index).is_some_and(|node| remove(node, rest))
        }
        _ => false,
    }
}

fn value_of<'a>(map: &'a mut Map, key: &str) -> Option<&'a mut Node> {
    map.entries.iter_mut().find(|entry| entry.key.text == key).map(|entry| &mut entry.value)
}

#[cfg(test)]
mod tests {
    use etbuild_diagnostic::{Code, Position};
    use serde::Deserialize;

    use super::*;
    use crate::{Source, Spanned, parse};

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Dish {
        name: String,
        heat: Heat,
        #[serde(default)]
        minutes: Spanned<u32>,
        #[serde(default)]
        steps: Vec<String>,
        source: Option<Origin>,
    }

    impl Default for Spanned<u32> {
        fn default() -> Self {
            Self::new(1, etbuild_diagnostic::Span::file("default"))
        }
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Heat {
        Low,
        High,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Origin {
        Book(String),
        Page(u32),
    }

    fn dish(text: &str) -> Result<Dish, Vec<Diagnostic>> {
        read(&parse(&Source::file("dish.yaml", text.into())).unwrap())
    }

    fn mistakes(text: &str) -> Vec<(Code, u32, u32)> {
        let diagnostics = dish(text).unwrap_err();
        assert!(diagnostics.iter().all(|diagnostic| diagnostic.help.is_some()));
        let place =
            |diagnostic: &Diagnostic| diagnostic.span.as_ref().map(|span| span.start).unwrap_or(Position::START);
        diagnostics.iter().map(|found| (found.code, place(found).line, place(found).column)).collect()
    }

    #[test]
    fn a_right_tree_is_read_with_its_places() {
        let dish = dish("name: soup\nheat: low\nminutes: 20\nsource: { page: 3 }\n").unwrap();
        assert_eq!((dish.name.as_str(), dish.heat), ("soup", Heat::Low));
        assert_eq!((dish.minutes.value, dish.minutes.span.to_string().as_str()), (20, "dish.yaml:3:10"));
        assert_eq!(dish.source, Some(Origin::Page(3)));
    }

    #[test]
    fn every_mistake_is_reported_once() {
        let text = "nmae: soup\nheat: hihg\nminutes: long\nsteps: [boil, 3, stir]\nsource: { boook: x }\n";
        let expected = [
            (Code::UnknownKey, 1, 1),
            (Code::BadValue, 2, 7),
            (Code::WrongType, 3, 10),
            (Code::WrongType, 4, 15),
            (Code::UnknownKey, 5, 11),
            (Code::MissingKey, 1, 1),
        ];
        assert_eq!(mistakes(text), expected[..5]);
        assert_eq!(mistakes("heat: low\n"), [expected[5]]);
    }

    #[test]
    fn a_choice_has_one_key() {
        let start = "name: soup\nheat: low\n";
        assert_eq!(mistakes(&format!("{start}source: {{ book: x, page: 3 }}\n")), [(Code::ExclusiveKeys, 3, 20)]);
        assert_eq!(mistakes(&format!("{start}source: {{ }}\n")), [(Code::ExclusiveKeys, 3, 9)]);
        assert_eq!(mistakes(&format!("{start}source: 3\n")), [(Code::WrongType, 3, 9)]);
    }

    #[test]
    fn hints_say_what_to_write() {
        let help = |text: &str| dish(text).unwrap_err().remove(0).help.unwrap();
        assert_eq!(help("name: soup\nhaet: low\n"), "did you mean `heat`?");
        assert_eq!(help("name: 3\nheat: low\n"), "add quotation marks");
        assert_eq!(help("name:\nheat: low\n"), "write a text");
        assert_eq!(help("name: soup\nheat: medium\n"), "write one of `low`, `high`");
        assert_eq!(help("name: soup\n"), "add `heat:` to this map");
    }

    #[test]
    fn the_allowed_names_are_listed_once() {
        let told = |text: &str| {
            let found = dish(text).unwrap_err().remove(0);
            [found.help.unwrap_or_default(), found.notes.join(" ")].map(|text| text.matches("`minutes`").count())
        };
        assert_eq!([told("haet: low\n"), told("colour: red\n")], [[0, 1], [1, 0]]);
    }

    #[test]
    fn a_scalar_in_place_of_a_map_is_a_wrong_type() {
        assert_eq!(mistakes("[]"), [(Code::WrongType, 1, 1)]);
        assert_eq!(mistakes(""), [(Code::WrongType, 1, 1)]);
    }
}
