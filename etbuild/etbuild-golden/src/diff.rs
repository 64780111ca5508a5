//! Differences of two texts, line by line.

/// Unchanged lines that are shown around a change.
const CONTEXT: usize = 3;

#[derive(Clone, Copy, PartialEq)]
enum Change {
    Same,
    Removed,
    Added,
}

/// The lines of both texts: `- ` marks a line that only `expected` has, `+ ` a line that only `found` has. Unchanged
/// lines far from a change are left out. Time is the product of the line counts.
pub fn diff(expected: &str, found: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let lines = changes(&old, &new);
    let is_near = |index: usize| {
        let window = index.saturating_sub(CONTEXT)..lines.len().min(index + CONTEXT + 1);
        lines[window].iter().any(|(change, _)| *change != Change::Same)
    };
    let mut text = String::new();
    let mut skipped = false;
    for (index, (change, line)) in lines.iter().enumerate() {
        if !is_near(index) {
            text += if skipped { "" } else { "  ...\n" };
            skipped = true;
            continue;
        }
        skipped = false;
        text += match change {
            Change::Same => "  ",
            Change::Removed => "- ",
            Change::Added => "+ ",
        };
        text += line;
        text += "\n";
    }
    text
}

/// The shortest edit from `old` to `new`, by the longest common subsequence of lines.
fn changes<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(Change, &'t str)> {
    // common[i][j] is the length of the longest common subsequence of old[i..] and new[j..].
    let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let skip = common[i + 1][j].max(common[i][j + 1]);
            common[i][j] = if old[i] == new[j] { common[i + 1][j + 1] + 1 } else { skip };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((Change::Same, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            lines.push((Change::Removed, old[i]));
            i += 1;
        } else {
            lines.push((Change::Added, new[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_line_is_shown_as_removed_and_added() {
        assert_eq!(diff("a\nb\nc\n", "a\nd\nc\n"), "  a\n- b\n+ d\n  c\n");
    }

    #[test]
    fn lines_far_from_a_change_are_left_out() {
        let old = "1\n2\n3\n4\n5\n6\n7\n";
        assert_eq!(diff(old, &format!("{old}8\n")), "  ...\n  5\n  6\n  7\n+ 8\n");
    }
}
