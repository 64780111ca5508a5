//! Embedding bags: bags are partitioned among tasks.

use et_core::Result;
use et_kernels::embedding_bag::{Bags, Reduction, reduce};

use crate::split::{self, Context, count};
use crate::{BagReduction, EmbeddingBag};

/// The minimum elements of a task.
const LEAST: usize = 1 << 13;

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, fields: &EmbeddingBag) -> Result<()> {
    let [rows, width, indices, bags] = [fields.rows, fields.width, fields.count, fields.bags].map(|size| size as usize);
    let mut operands = context.memory.operands();
    let work = Bags {
        table: operands.read(fields.table, count(&[rows, width])?)?,
        width,
        indices: operands.read(fields.indices, indices)?,
        offsets: operands.read(fields.offsets, bags.saturating_add(usize::from(fields.has_end)))?,
        weights: operands.read_present(fields.weights, indices)?,
        reduction: match fields.reduction {
            BagReduction::Sum => Reduction::Sum,
            BagReduction::Mean => Reduction::Mean,
            BagReduction::Max => Reduction::Max,
        },
        skipped: usize::try_from(fields.skipped).ok(),
    };
    let output = operands.write::<f32>(*fields.output, count(&[bags, width])?)?;
    let elements = (indices / bags.max(1) + 1).saturating_mul(width).max(1);
    let level = context.level;
    split::runs(context, output, width, LEAST / elements + 1, |bags, output, _| reduce(level, &work, bags, output))
}
