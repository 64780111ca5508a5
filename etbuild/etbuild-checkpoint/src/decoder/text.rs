//! The texts of a call, and the rows of each.

use etbuild_ir::ValueId;

use super::parts::Parts;
use crate::Mutual;

/// The tokens that a method is given: of one text, or one token of each of several texts.
pub struct Text {
    /// The position of the first token of each text.
    pub starts: Vec<ValueId>,
    /// The index of the last token of a text.
    pub last: ValueId,
    /// For each text the index of the last token, or -1 for a text without a token in the call; empty where each text has one.
    pub lasts: Vec<ValueId>,
    /// The number of tokens.
    pub count: usize,
    /// The layers in which the tokens attend to each other in both directions.
    pub mutual: Mutual,
    /// How heads of queries and keys turn.
    pub turning: Turning,
}

/// What rotary position embedding turns heads by.
pub enum Turning {
    /// The place of a token in the text.
    Places,
    /// Positions, of which the first token of each text has these: places that differ from positions behind pictures.
    Positions(Vec<ValueId>),
    /// The cosines and the sines of each token, `[count, pairs]`, and the row of the first token, which is zero.
    Tables([ValueId; 2], ValueId),
}

/// A text of [`Text`].
pub struct Own {
    /// The position of the first token.
    pub start: ValueId,
    /// The index of the last token.
    pub last: ValueId,
    /// The same, or -1 for a text without a token in the call.
    pub read: ValueId,
    /// The end of the names of the text's KV caches.
    suffix: String,
    /// The layers in which the tokens attend to each other in both directions.
    pub mutual: Mutual,
    /// The row of the first token in the tables of cosines and sines.
    pub turn: ValueId,
    /// The cosines and the sines of the tokens, where the tokens have their own.
    pub tables: Option<[ValueId; 2]>,
}

impl Own {
    /// The name of the text's own state.
    pub fn name(&self, name: &str) -> String {
        format!("{name}{}", self.suffix)
    }
}

impl Text {
    /// The last token alone of a piece of a single text; `None` of several texts, and where positions differ from places.
    pub fn at_last(&self, parts: &mut Parts<'_, '_>) -> Option<Self> {
        let ([start], Turning::Places, Mutual::Nowhere) = (&self.starts[..], &self.turning, self.mutual) else {
            return None;
        };
        let start = parts.sketch.add(*start, self.last);
        let last = parts.weights.integers("last", &[0]);
        let last = parts.sketch.constant(&last);
        let (starts, turning) = (vec![start], Turning::Places);
        Some(Self { starts, last, lasts: Vec::new(), count: 1, mutual: Mutual::Nowhere, turning })
    }

    /// The texts, each with the range of tokens.
    fn texts(&self) -> impl Iterator<Item = (Own, [usize; 2])> {
        let is_alone = self.starts.len() == 1;
        let count = if is_alone { self.count } else { 1 };
        self.starts.iter().enumerate().map(move |(index, start)| {
            let suffix = if is_alone { String::new() } else { format!("@{index}") };
            let (turn, tables) = match &self.turning {
                Turning::Places => (*start, None),
                Turning::Positions(positions) => (positions.get(index).copied().unwrap_or(*start), None),
                Turning::Tables(tables, first) => (*first, Some(*tables)),
            };
            let read = self.lasts.get(index).copied().unwrap_or(self.last);
            let own = Own { start: *start, last: self.last, read, suffix, mutual: self.mutual, turn, tables };
            (own, [index, index + count])
        })
    }

    /// Does something with the rows of each text, `[1, rows, ..]`, and puts the results together.
    pub fn each<const N: usize>(
        &self,
        parts: &mut Parts<'_, '_>,
        rows: [ValueId; N],
        mut each: impl FnMut(&mut Parts<'_, '_>, &Own, [ValueId; N]) -> ValueId,
    ) -> ValueId {
        let mut made = Vec::new();
        for (own, [start, end]) in self.texts() {
            let is_all = end - start == self.count;
            let own_rows = if is_all { rows } else { rows.map(|rows| parts.sketch.slice(rows, 1, start, end)) };
            made.push(each(parts, &own, own_rows));
        }
        match made.as_slice() {
            [made] => *made,
            several => parts.sketch.join(several, 1),
        }
    }
}
