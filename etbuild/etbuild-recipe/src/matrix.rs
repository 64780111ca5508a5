//! `matrix:`: a recipe for every combination of values.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_yaml::{Entry, Map, Node, Place, Text, Value};

/// The limit of recipes per matrix.
const RECIPES: usize = 64;

/// Expands a tree with `matrix:` to a tree per combination; a tree without a matrix is returned unchanged.
///
/// The variables of the matrix become variables of `vars:`, and the values that the name does not mention are appended
/// to the name.
pub fn expand(mut tree: Node) -> Result<Vec<Node>, Diagnostic> {
    let Value::Map(map) = &mut tree.value else { return Ok(vec![tree]) };
    let Some(matrix) = map.remove("matrix") else { return Ok(vec![tree]) };
    let combinations = combinations(&matrix.value)?;
    Ok(combinations.into_iter().map(|combination| instance(&tree, combination)).collect())
}

/// Every combination of values, the last variable changing fastest.
fn combinations(matrix: &Node) -> Result<Vec<Vec<Entry>>, Diagnostic> {
    let Value::Map(variables) = &matrix.value else {
        return Err(wrong_type(matrix, "write `matrix:` as a map from names to lists of values"));
    };
    let mut all: Vec<Vec<Entry>> = vec![Vec::new()];
    for variable in &variables.entries {
        let values = values(&variable.value)?;
        if all.len().saturating_mul(values.len()) > RECIPES {
            return Err(too_many(&variable.value.place));
        }
        all = all.iter().flat_map(|chosen| values.iter().map(|value| with(chosen, &variable.key, value))).collect();
    }
    Ok(all)
}

fn with(chosen: &[Entry], key: &Text, value: &Node) -> Vec<Entry> {
    let entry = Entry { key: key.clone(), value: value.clone() };
    chosen.iter().cloned().chain([entry]).collect()
}

/// The values of a variable: a list or a scalar.
fn values(node: &Node) -> Result<&[Node], Diagnostic> {
    let values = match &node.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    if values.is_empty() {
        let message = "a variable of the matrix has no values";
        return Err(Diagnostic::error(Code::BadMatrix, message).at(node.place.span()).help("add a value"));
    }
    match values.iter().find(|value| value.value.to_text().is_none()) {
        Some(value) => Err(wrong_type(value, "write a text, a number or a boolean")),
        None => Ok(values),
    }
}

fn instance(tree: &Node, combination: Vec<Entry>) -> Node {
    let mut tree = tree.clone();
    if let Value::Map(root) = &mut tree.value {
        extend_name(root, &combination);
        add_variables(root, &tree.place, combination);
    }
    tree
}

fn extend_name(root: &mut Map, combination: &[Entry]) {
    let name = root.entries.iter_mut().find(|entry| entry.key.text == "name");
    let Some(Value::Text(name)) = name.map(|entry| &mut entry.value.value) else { return };
    let written = name.clone();
    for entry in combination.iter().filter(|entry| !written.contains(&format!("${{{}}}", entry.key.text))) {
        name.push('-');
        name.extend(entry.value.value.to_text().unwrap_or_default().chars().map(in_name));
    }
}

fn in_name(character: char) -> char {
    if character.is_ascii_alphanumeric() || "-_.".contains(character) { character } else { '_' }
}

fn add_variables(root: &mut Map, place: &Place, combination: Vec<Entry>) {
    let mut variables = match root.remove("vars").map(|entry| entry.value.value) {
        Some(Value::Map(variables)) => variables,
        _ => Map::default(),
    };
    variables.entries.retain(|entry| combination.iter().all(|chosen| chosen.key.text != entry.key.text));
    variables.entries.extend(combination);
    let key = Text { text: "vars".to_owned(), place: place.clone() };
    root.entries.push(Entry { key, value: Node { value: Value::Map(variables), place: place.clone() } });
}

fn wrong_type(node: &Node, help: &str) -> Diagnostic {
    let message = format!("unexpected {}", node.value.kind());
    Diagnostic::error(Code::WrongType, message).at(node.place.span()).help(help)
}

fn too_many(place: &Place) -> Diagnostic {
    let message = format!("the matrix expands to more than {RECIPES} recipes");
    Diagnostic::error(Code::BadMatrix, message).at(place.span()).help("split the matrix into several recipes")
}
