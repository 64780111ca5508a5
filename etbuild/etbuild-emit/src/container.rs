//! Serialized pytrees: the Python structure of the arguments and results of a method.

use et_format::write::ContainerMetadata;

const LEAF: &str = r#"{"type": null, "context": null, "children_spec": []}"#;
const NO_KEYWORDS: &str = r#"{"type": "builtins.dict", "context": "[]", "children_spec": []}"#;

/// Positional inputs; a single output as a leaf, several outputs as a tuple.
pub fn container(inputs: usize, outputs: usize) -> ContainerMetadata {
    let arguments = tuple(&[&tuple(&vec![LEAF; inputs]), NO_KEYWORDS]);
    let results = if outputs == 1 { LEAF.to_owned() } else { tuple(&vec![LEAF; outputs]) };
    ContainerMetadata { inputs: format!("[1, {arguments}]"), outputs: format!("[1, {results}]") }
}

/// The structure of a method that returns a single fixed value.
pub fn constant() -> ContainerMetadata {
    ContainerMetadata { inputs: String::new(), outputs: format!("[1, {LEAF}]") }
}

/// The structure of a method that returns a list of fixed values.
pub fn constant_list(items: usize) -> ContainerMetadata {
    ContainerMetadata { inputs: String::new(), outputs: format!("[1, {}]", node("list", &vec![LEAF; items])) }
}

fn tuple(children: &[&str]) -> String {
    node("tuple", children)
}

fn node(kind: &str, children: &[&str]) -> String {
    let children = children.join(", ");
    format!(r#"{{"type": "builtins.{kind}", "context": "null", "children_spec": [{children}]}}"#)
}

#[cfg(test)]
mod tests {
    use super::container;

    /// The text that ExecuTorch 1.5 writes for a module with a single input and output.
    #[test]
    fn a_single_input_and_output_print_like_upstream() {
        let one = container(1, 1);
        assert_eq!(
            one.inputs,
            concat!(
                r#"[1, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": "builtins.tuple", "#,
                r#""context": "null", "children_spec": [{"type": null, "context": null, "children_spec": []}]}, "#,
                r#"{"type": "builtins.dict", "context": "[]", "children_spec": []}]}]"#
            )
        );
        assert_eq!(one.outputs, r#"[1, {"type": null, "context": null, "children_spec": []}]"#);
    }

    #[test]
    fn several_outputs_are_a_tuple() {
        assert_eq!(container(0, 2).outputs.matches("\"type\": null").count(), 2);
    }
}
