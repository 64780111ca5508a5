//! How Python saw the outputs of a method: the pytree of `torch.export`, as JSON.

/// The number of results in a pytree of outputs: the leaves, which are nodes without a type. `None` for a text that is no pytree. The outputs
/// of a method are the new values of mutated inputs, and then the results.
pub fn result_count(tree: &str) -> Option<usize> {
    let dense: String = tree.split_whitespace().collect();
    let is_tree = dense.starts_with("[1,{") && dense.ends_with("}]");
    // A quote within a text has a backslash before it.
    is_tree.then(|| dense.matches(r#""type":null"#).count())
}

#[cfg(test)]
mod tests {
    use super::result_count;

    #[test]
    fn results_are_the_leaves_of_the_tree() {
        let leaf = r#"{"type": null, "context": null, "children_spec": []}"#;
        assert_eq!(result_count(&format!("[1, {leaf}]")), Some(1));
        let text = format!(
            r#"[1, {{"type": "builtins.dict", "context": "[\"\\\"type\\\": null\"]", "children_spec": [{leaf}, {leaf}]}}]"#
        );
        assert_eq!(result_count(&text), Some(2));
        assert_eq!(result_count("tuple(tensor)"), None);
    }
}
