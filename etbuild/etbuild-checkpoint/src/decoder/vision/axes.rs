//! Learned position embeddings of patches: a table of columns and a table of rows.

use etbuild_ir::ValueId;

use crate::TOWER;
use crate::decoder::parts::Parts;

/// Adds the position embeddings to the embeddings of patches, `[1, n, width]`, from two tables of `rows` rows each, of which `most` are those of
/// the largest picture; `places` are the rows and the columns of the patches, `[n]`.
pub fn add(
    parts: &mut Parts<'_, '_>,
    [most, rows, width]: [usize; 3],
    places: [ValueId; 2],
    patches: ValueId,
) -> ValueId {
    let (tensor, [of_rows, of_columns]) = (format!("{TOWER}.patch_embedder.position_embedding_table"), places);
    parts.sketch.enter(tensor.as_str());
    [of_columns, of_rows].into_iter().enumerate().fold(patches, |sum, (index, places)| {
        let table = parts.weights.rows_of_table(&tensor, [index, most.min(rows)], [2, rows, width]);
        let table = parts.sketch.floats(&table);
        let embedded = parts.sketch.embedding(table, places);
        parts.sketch.add(sum, embedded)
    })
}
