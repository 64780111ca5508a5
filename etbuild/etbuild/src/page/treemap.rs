//! Rectangles whose areas are in proportion to sizes, near to squares: the squarified treemap of Bruls, Huizing and van Wijk
//! (2000).

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    /// The left edge.
    pub x: f64,
    /// The top edge.
    pub y: f64,
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
}

/// A rectangle in `whole` for each of `sizes`, which are sorted, the largest first, and not negative.
pub fn layout(sizes: &[f64], whole: Rectangle) -> Vec<Rectangle> {
    let total: f64 = sizes.iter().sum();
    let mut found = Vec::with_capacity(sizes.len());
    let (mut rest, mut left) = (sizes, whole);
    let scale = if total > 0.0 { whole.width * whole.height / total } else { 0.0 };
    while !rest.is_empty() {
        let count = row(rest, left.width.min(left.height), scale);
        let (these, others) = rest.split_at(count);
        left = place(these, left, scale, &mut found);
        rest = others;
    }
    found
}

/// How many of `sizes` make the row along an edge of this length whose worst rectangle is best.
fn row(sizes: &[f64], edge: f64, scale: f64) -> usize {
    let (mut sum, mut best, largest) = (0.0, f64::INFINITY, sizes.first().copied().unwrap_or(0.0));
    for (index, size) in sizes.iter().enumerate() {
        sum += size;
        let worst = worst_ratio(sum * scale, largest * scale, size * scale, edge);
        if worst > best {
            return index.max(1);
        }
        best = worst;
    }
    sizes.len()
}

fn worst_ratio(sum: f64, largest: f64, smallest: f64, edge: f64) -> f64 {
    let (edge, sum) = (edge * edge, sum * sum);
    if smallest <= 0.0 || edge <= 0.0 {
        return f64::INFINITY;
    }
    (edge * largest / sum).max(sum / (edge * smallest))
}

/// Places a row along the shorter edge, and returns the remaining area.
fn place(sizes: &[f64], whole: Rectangle, scale: f64, found: &mut Vec<Rectangle>) -> Rectangle {
    let area = sizes.iter().sum::<f64>() * scale;
    let upright = whole.width >= whole.height;
    let edge = if upright { whole.height } else { whole.width };
    let depth = if edge > 0.0 { area / edge } else { 0.0 };
    let mut at = 0.0;
    for size in sizes {
        let length = if depth > 0.0 { size * scale / depth } else { 0.0 };
        found.push(if upright {
            Rectangle { x: whole.x, y: whole.y + at, width: depth, height: length }
        } else {
            Rectangle { x: whole.x + at, y: whole.y, width: length, height: depth }
        });
        at += length;
    }
    if upright {
        Rectangle { x: whole.x + depth, width: whole.width - depth, ..whole }
    } else {
        Rectangle { y: whole.y + depth, height: whole.height - depth, ..whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Rectangle = Rectangle { x: 0.0, y: 0.0, width: 6.0, height: 4.0 };

    #[test]
    fn areas_are_in_proportion_and_inside() {
        let sizes = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let found = layout(&sizes, WHOLE);
        for (size, place) in sizes.iter().zip(&found) {
            assert!((place.width * place.height - size).abs() < 1e-9, "{place:?}");
            let (right, bottom) = (place.x + place.width, place.y + place.height);
            assert!(place.x > -1e-9 && place.y > -1e-9 && right < 6.0 + 1e-9 && bottom < 4.0 + 1e-9, "{place:?}");
        }
        assert_eq!((found[0].width, found[0].height), (3.0, 2.0));
    }

    #[test]
    fn empty_and_zero_sizes_have_rectangles() {
        assert!(layout(&[], WHOLE).is_empty());
        assert_eq!(layout(&[1.0, 0.0, 0.0], WHOLE).len(), 3);
        assert_eq!(layout(&[0.0], WHOLE).len(), 1);
    }
}
