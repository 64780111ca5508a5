//! Tables for people: columns as wide as their widest cell.

/// Rows of text cells under a heading.
pub struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns and no rows.
    pub fn new(heading: &[&'static str]) -> Self {
        Self { heading: heading.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; missing cells stay empty.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table as lines, two spaces between columns, no space at the end of a line.
    pub fn render(&self) -> String {
        let heading = self.heading.iter().map(|cell| (*cell).to_owned()).collect();
        let lines: Vec<&Vec<String>> = std::iter::once(&heading).chain(&self.rows).collect();
        let widths: Vec<usize> = (0..self.heading.len()).map(|column| width(&lines, column)).collect();
        lines.iter().map(|cells| line(cells, &widths)).collect::<Vec<_>>().join("\n")
    }
}

fn width(lines: &[&Vec<String>], column: usize) -> usize {
    lines.iter().filter_map(|cells| cells.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
    padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["a", "long"]);
        table.row(vec!["wide".into(), "x".into()]);
        table.row(vec!["b".into()]);
        assert_eq!(table.render(), "a     long\nwide  x\nb");
    }
}
