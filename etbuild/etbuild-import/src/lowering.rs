//! Lowerings of custom operators: the calls of torch's operators that compute what a custom operator computes, as a crate states them.
//!
//! A line is a call: `y = aten::mul.Tensor(x, gate)`, or `return aten::sigmoid(y)`. Arguments are those of the custom operator, results of
//! earlier lines, and literals of Python.

mod apply;
mod parse;

pub use apply::apply;
pub use parse::parse;

use etbuild_ir::{Argument, OperatorName};

use crate::schema::Parameter;

/// A mistake in a lowering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoweringMistake {
    /// The index of the line; that of the last line for a mistake of the whole.
    pub line: usize,
    /// The reason, as a sentence without a full stop.
    pub reason: String,
}

/// A lowering that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lowering<'l> {
    steps: Vec<Step<'l>>,
    /// The names of the results.
    results: Vec<Name<'l>>,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
struct Step<'l> {
    /// The index of the line.
    line: usize,
    operator: OperatorName,
    /// An argument for each parameter.
    arguments: Vec<Given<'l>>,
    parameters: Vec<Parameter<'static>>,
    /// The names of the results, or of the first ones.
    names: Vec<Name<'l>>,
}

/// The name of an argument of the custom operator or of a result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name<'l> {
    /// As written.
    Written(&'l str),
    /// The result of the call behind `return`, with the index.
    Returned(usize),
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
enum Given<'l> {
    /// A named value.
    Name(Name<'l>),
    /// A list with named values.
    List(Vec<Given<'l>>),
    /// A literal, or a default.
    Literal(Argument),
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use etbuild_ir::text::{parse, print};
    use etbuild_ir::{Aten, AtenProgram, Dialect, Program};

    use super::{LoweringMistake, apply};
    use crate::ImportError;
    use crate::schema::CustomSchema;

    const GATE: &str = "mylib::gate(Tensor x, Tensor gate, float alpha=1.0) -> Tensor";
    const BOTH: &str = "mylib::both(Tensor x, int rows) -> (Tensor, Tensor)";

    fn lowered(schema: &str, lines: &[&str], has_kernel: bool) -> Result<CustomSchema, LoweringMistake> {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        CustomSchema::parse(schema).unwrap().lowered(lines, has_kernel)
    }

    /// The program behind the lowering of its calls.
    fn applied(text: &str, schema: CustomSchema) -> Result<String, ImportError> {
        let text = format!("etbuild-ir 1 aten\nmethod forward\n{text}");
        let graph = parse(&text, &mut |_| None).unwrap().1.methods.remove("forward").unwrap();
        let graph = apply(graph, &[schema].into_iter().collect())?;
        let program = AtenProgram::verify(Program { methods: BTreeMap::from([("forward".to_owned(), graph)]) });
        let printed = print(Aten::NAME, program.unwrap().program());
        Ok(printed.lines().skip(2).map(|line| format!("{}\n", line.trim())).collect())
    }

    #[test]
    fn a_call_becomes_the_calls_of_its_lowering() {
        let lines = [
            "scaled = aten::mul.Scalar(gate, alpha)",
            "open = aten::sigmoid(scaled)",
            "return aten::mul.Tensor(x, open)",
        ];
        let text = "  input %x: float32[1..4, 3]
  %a: float32[1..4, 3] = aten.relu.default(%x)
  %b: float32[1..4, 3] = mylib.gate.default(%a, %x, 1.5)
  return %b
";
        let wanted = "input %x: float32[1..4, 3]
%a: float32[1..4, 3] = aten.relu.default(%x)
%b_mul@3: float32[1..4, 3] = aten.mul.Scalar(%x, 1.5)
%b_sigmoid: float32[1..4, 3] = aten.sigmoid.default(%b_mul)
%b@2: float32[1..4, 3] = aten.mul.Tensor(%a, %b_sigmoid)
return %b
";
        assert_eq!(applied(text, lowered(GATE, &lines, false).unwrap()).unwrap(), wanted);
    }

    #[test]
    fn results_may_be_operands_and_sizes_may_be_dynamic() {
        let lines = [
            "count = aten::sym_size.int(x, 0)",
            "width = aten::sym_size.int(x, -1)",
            "flat = aten::reshape(x, [count, width, 1])",
            "joined = aten::cat([flat, flat], dim=1)",
            "return x, joined",
        ];
        let text = "  input %x: float32[1..4, 3]
  (%a: float32[1..4, 3], %b: float32[1..4, 6, 1]) = mylib.both.default(%x, 2)
  %c: float32[1..4, 3] = aten.relu.default(%a)
  return %c, %b
";
        let found = applied(text, lowered(BOTH, &lines, false).unwrap()).unwrap();
        assert!(found.contains("aten.reshape.default(%x, sizes[%a_sym_size, 3, 1])"), "{found}");
        assert!(found.contains("%b@1: float32[1..4, 6, 1] = aten.cat.default"), "{found}");
        assert!(found.contains("aten.relu.default(%x)"), "{found}");
    }

    #[test]
    fn a_call_that_no_rule_follows_stays_with_a_kernel_only() {
        let line = ["return aten::reshape(x, [3, rows]), x"];
        assert!(lowered(BOTH, &line, true).is_err());
        let lines = ["y = aten::reshape(x, [3, rows])", "return y, x"];
        let text = |size: &str| {
            format!(
                "  input %x: float32[{size}, 3]
  (%a: float32[3, 2], %b: float32[{size}, 3]) = mylib.both.default(%x, 2)
  return %a, %b
"
            )
        };
        let kernel = |has_kernel| lowered(BOTH, &lines, has_kernel).unwrap();
        let found = applied(&text("2"), kernel(false)).unwrap();
        assert!(found.contains("= aten.reshape.default(%x, [3, 2])"), "{found}");
        assert!(applied(&text("1..2"), kernel(true)).unwrap().contains("mylib.both.default(%x, 2)"));
        let error = applied(&text("1..2"), kernel(false)).unwrap_err().to_string();
        assert!(error.contains("line 1: `aten::reshape` does not take these arguments"), "{error}");
    }

    #[test]
    fn another_type_or_shape_than_in_the_archive_is_an_error() {
        let text = "  input %x: float32[2, 3]
  %a: float32[2, 3] = mylib.gate.default(%x, %x, 1.0)
  return %a
";
        for (line, words) in [
            ("return aten::sum.dim_IntList(x, [1])", "computes float32 [2], and the exported operator float32 [2, 3]"),
            ("return aten::gt.Tensor(x, gate)", "computes bool [2, 3]"),
            ("return aten::mm(x, gate)", "does not take these arguments"),
        ] {
            let error = applied(text, lowered(GATE, &[line], false).unwrap()).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            assert!(matches!(error, ImportError::Lowering { line: 1, .. }));
        }
    }

    #[test]
    fn mistakes_that_show_without_a_program_name_the_line() {
        for (lines, line, words) in [
            (&["return aten::nope(x)"][..], 0, "no operator of torch"),
            (&["return mylib::gate(x, x)"], 0, "custom operator"),
            (&["return aten::relu_(x)"], 0, "writes to an argument"),
            (&["return aten::einsum(\"ij\", [x])"], 0, "no rule for the shapes"),
            (&["y = aten::relu(x)", "return aten::add.Tensor(y, z)"], 1, "`z` is neither"),
            (&["return aten::add.Tensor(x)"], 0, "`other` of `aten::add.Tensor` is missing"),
            (&["return aten::add.Tensor(x, alpha)"], 0, "cannot be `alpha`"),
            (&["return aten::add.Tensor(x, None)"], 0, "cannot be `None`"),
            (&["return aten::relu(x, x)"], 0, "more are given"),
            (&["return aten::relu(self=x, self=x)"], 0, "given twice"),
            (&["return aten::relu(other=x)"], 0, "has no argument `other`"),
            (&["return aten::cat([x, alpha])"], 0, "cannot be `[x, alpha]`"),
            (&["y, z = aten::relu(x)", "return y"], 0, "computes 1, and 2 are named"),
            (&["x = aten::relu(gate)", "return x"], 0, "`x` is named twice"),
            (&["2y = aten::relu(x)", "return x"], 0, "`2y` is no name"),
            (&["aten::relu(x)", "return x"], 0, "a line is"),
            (&["y = aten::relu(x)"], 0, "begins with `return`"),
            (&["return x, gate"], 0, "returns 2 tensors, and the schema has 1"),
            (&["return alpha"], 0, "`alpha` is no tensor"),
            (&["return x", "return x"], 1, "follows `return`"),
            (&[], 0, "begins with `return`"),
        ] {
            let mistake = lowered(GATE, lines, true).unwrap_err();
            assert!(mistake.line == line && mistake.reason.contains(words), "{lines:?}: {mistake:?}");
        }
    }
}
