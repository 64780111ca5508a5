//! The rotary position embedding of image tokens with a time, a row and a column (M-RoPE).

use super::parts::Parts;
use super::text::Turning;

/// The inputs with the positions of each token, in the order of the sections.
const INPUTS: [&str; 3] = ["times", "rows", "columns"];

/// Cosines and sines of `count` image tokens: of the first pairs by the time, of further pairs by row and column.
pub fn turning(parts: &mut Parts<'_, '_>, sections: [usize; 3], count: usize) -> Turning {
    let Parts { sketch, weights } = parts;
    let positions = INPUTS.map(|name| sketch.input(name, &[count]));
    sketch.enter("model.rotary_emb");
    let first = sketch.constant(&weights.integers("first", &[0]));
    let tables = weights.rotary(0, None).map(|table| {
        let table = sketch.constant(&table);
        let mut start = 0;
        let turned = std::array::from_fn::<_, 3, _>(|axis| {
            let (end, position) = (start + sections[axis], positions[axis]);
            let rows = sketch.embedding(table, position);
            let part = sketch.slice(rows, 1, start, end);
            start = end;
            part
        });
        sketch.join(&turned, 1)
    });
    Turning::Tables(tables, first)
}
