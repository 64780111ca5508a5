//! Conversions.

use etbuild_ir::{Argument, OperatorName};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `_to_copy` becomes the conversion with an explicit dim order.
pub fn convert(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    if *editor.spec(input) == output {
        return Ok(vec![input]);
    }
    let operator = OperatorName::parse("dim_order_ops._to_dim_order_copy.default").ok_or(Reason::NoKernel)?;
    let order = Argument::Ints(output.dim_order.iter().map(|dim| i64::from(*dim)).collect());
    let arguments = vec![Argument::Value(input), Argument::Bool(false), order];
    Ok(editor.keep(Call { operator, arguments, outputs: vec![output] }))
}
