//! The rotary position embedding of image tokens with a time, a row and a column (M-RoPE).

use super::parts::Parts;
use super::text::Turning;
use crate::Sections;

/// The inputs with the positions of each token, in the order of the axes.
const INPUTS: [&str; 3] = ["times", "rows", "columns"];

/// Cosines and sines of `count` image tokens: of each pair by the axis of the pair.
pub fn turning(parts: &mut Parts<'_, '_>, sections: Sections, count: usize) -> Turning {
    let Parts { sketch, weights } = parts;
    let positions = INPUTS.map(|name| sketch.input(name, &[count]));
    sketch.enter("model.rotary_emb");
    let first = sketch.constant(&weights.integers("first", &[0]));
    let tables = weights.rotary(0, None);
    let pairs = tables[0].spec.sizes.last().map_or(0, |pairs| pairs.unsigned_abs() as usize);
    // A mask of pairs for each axis: 1 for a pair that turns by the axis, 0 for others.
    let own = std::array::from_fn::<_, 3, _>(|axis| {
        let ones = (0..pairs).map(|pair| (f64::from(u8::from(sections.axis(pair) == axis)), 1));
        let own = weights.ranges(&format!("pairs.{axis}"), ones);
        sketch.constant(&own)
    });
    let tables = tables.map(|table| {
        let table = sketch.constant(&table);
        let [time, row, column] = std::array::from_fn(|axis| {
            let turned = sketch.embedding(table, positions[axis]);
            sketch.multiply(turned, own[axis])
        });
        let both = sketch.add(time, row);
        sketch.add(both, column)
    });
    Turning::Tables(tables, first)
}
