//! Functions of single elements as tables.

use et_cortex_m::Table;
use etbuild_backend::Refusal;
use etbuild_backend::int8::pattern::{Operand, QParams};
use etbuild_backend::int8::table;
use etbuild_ir::{Node, ValueId};

use super::Lowering;

impl Lowering<'_> {
    /// Functions of an int8 tensor, first to last; none change the qparams only.
    pub(super) fn table(
        &mut self,
        operand: Operand,
        functions: &[&Node],
        to: ValueId,
        qparams: QParams,
    ) -> Result<(), Refusal> {
        let stored = self.stored(operand.id)?;
        if functions.is_empty() && operand.qparams == qparams {
            self.alias(to, stored);
            return Ok(());
        }
        let table = table(functions, operand.qparams, qparams)?;
        let step = Table {
            input: stored.buffer.place(),
            output: self.create(to, stored.order).place(),
            count: self.links.graph.spec(to).numel() as u32,
            table: self.program.constant(&table),
        };
        self.program.emit(step, self.name(to));
        Ok(())
    }
}
