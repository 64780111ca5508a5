//! Conversions.

use etbuild_ir::{Argument, OperatorName};

use crate::edit::{Call, Editor, Rewritten};

/// `_to_copy` becomes the catalogue's conversion, which names the order of dimensions.
pub fn convert(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let output = call.output()?;
    if *editor.spec(input) == output {
        return Ok(vec![input]);
    }
    let named = OperatorName::parse("dim_order_ops._to_dim_order_copy.default")
        .filter(|name| et_ops::find_functional(&name.qualified()).is_some());
    let Some(operator) = named else {
        return Ok(editor.keep(Call {
            operator: call.operator.clone(),
            arguments: call.arguments.clone(),
            outputs: vec![output],
        }));
    };
    let order = Argument::Ints(output.dim_order.iter().map(|dim| i64::from(*dim)).collect());
    let nothing = || Argument::None;
    let kind = [Argument::Type(output.scalar_type), nothing(), nothing(), nothing(), Argument::Bool(false), order];
    let arguments = std::iter::once(Argument::Value(input)).chain(kind).collect();
    Ok(editor.keep(Call { operator, arguments, outputs: vec![output] }))
}
