//! Types of arguments, from the schema of an operator.

/// The types of all arguments in order, out tensors included: `Tensor`, `int[2]`, `Tensor(a!)`.
pub fn argument_types(schema: &str) -> impl Iterator<Item = &str> {
    let arguments = schema.split_once('(').map_or("", |(_, rest)| rest);
    let arguments = arguments.rsplit_once(") ->").map_or(arguments, |(arguments, _)| arguments);
    let mut depth = 0_i32;
    arguments
        .split(move |character| {
            depth += i32::from(matches!(character, '(' | '[')) - i32::from(matches!(character, ')' | ']'));
            character == ',' && depth == 0
        })
        .filter_map(|argument| argument.split_whitespace().next())
        .filter(|argument| *argument != "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_and_keyword_marks_are_not_types() {
        let schema = "aten::op.out(Tensor self, int[2] stride=[1, 1], Tensor?[] indices, *, Scalar alpha=1, \
                      Tensor(a!) out0, Tensor(b!)[] out1) -> (Tensor(a!), Tensor(b!)[])";
        let types: Vec<_> = argument_types(schema).collect();
        assert_eq!(types, ["Tensor", "int[2]", "Tensor?[]", "Scalar", "Tensor(a!)", "Tensor(b!)[]"]);
    }

    #[test]
    fn an_operator_may_have_no_return_value() {
        assert_eq!(argument_types("aten::op.out(Tensor self, Tensor(a!)[] out) -> ()").count(), 2);
    }
}
