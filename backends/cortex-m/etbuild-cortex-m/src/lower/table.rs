//! Functions of single elements as tables.

use et_cortex_m::{Table, Table16};
use etbuild_backend::Refusal;
use etbuild_backend::int8::pattern::{Operand, QParams, Width};
use etbuild_backend::int8::{lines, table};
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
        let (input, output) = (stored.buffer.place(), self.create(to, stored.order).place());
        let count = self.links.graph.spec(to).numel() as u32;
        if qparams.width == Width::Int16 {
            let table = self.entries(&lines(functions, operand.qparams, qparams)?);
            self.program.emit(Table16 { input, output, count, table }, self.name(to));
            return Ok(());
        }
        let table = self.program.constant(&table(functions, operand.qparams, qparams)?);
        self.program.emit(Table { input, output, count, table }, self.name(to));
        Ok(())
    }
}
