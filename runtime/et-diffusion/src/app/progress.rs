//! The progress of a picture: a bar on a terminal, lines elsewhere.

use std::io::Write;
use std::time::Instant;

use crate::{Error, Stage};

/// The width of the bar in characters.
const WIDTH: usize = 30;

/// Shows the progress on a stream.
pub struct Progress<'t> {
    talk: &'t mut dyn Write,
    has_bar: bool,
    /// Whether the line of the bar is open.
    is_open: bool,
    last: Instant,
}

impl<'t> Progress<'t> {
    /// The progress on `talk`, with a bar for a terminal.
    pub fn new(talk: &'t mut dyn Write, has_bar: bool) -> Self {
        Self { talk, has_bar, is_open: false, last: Instant::now() }
    }

    /// Writes a note for the user.
    ///
    /// # Errors
    /// [`Error::Stream`].
    pub fn note(&mut self, text: &str) -> Result<(), Error> {
        Ok(writeln!(self.talk, "note: {text}")?)
    }

    /// Shows a stage that has ended.
    ///
    /// # Errors
    /// [`Error::Stream`].
    pub fn show(&mut self, stage: Stage) -> Result<(), Error> {
        let seconds = self.last.elapsed().as_secs_f64();
        self.last = Instant::now();
        let text = match stage {
            Stage::Text => "text encoder".to_owned(),
            Stage::Step(done, all) => format!("step {done} of {all}"),
            Stage::Decoded => "VAE decoder".to_owned(),
        };
        if self.has_bar {
            self.is_open = true;
            write!(self.talk, "\r\x1b[K{} {text}, {seconds:.2} s", bar(stage))?;
            self.talk.flush()?;
        } else {
            writeln!(self.talk, "{text}: {seconds:.2} s")?;
        }
        Ok(())
    }

    /// Ends the line of the bar.
    ///
    /// # Errors
    /// [`Error::Stream`].
    pub fn end(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.is_open) {
            writeln!(self.talk)?;
        }
        Ok(())
    }
}

/// The bar after a stage: steps take the time of a picture.
fn bar(stage: Stage) -> String {
    let full = match stage {
        Stage::Text => 0,
        Stage::Step(done, all) => WIDTH * done / all.max(1),
        Stage::Decoded => WIDTH,
    };
    format!("[{}{}]", "=".repeat(full), " ".repeat(WIDTH.saturating_sub(full)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(has_bar: bool) -> String {
        let mut talk = Vec::new();
        let mut progress = Progress::new(&mut talk, has_bar);
        for stage in [Stage::Text, Stage::Step(1, 2), Stage::Step(2, 2), Stage::Decoded] {
            progress.show(stage).unwrap();
        }
        progress.end().unwrap();
        String::from_utf8(talk).unwrap()
    }

    #[test]
    fn a_terminal_gets_one_line_and_a_file_a_line_per_stage() {
        let bar = shown(true);
        assert_eq!((bar.matches('\r').count(), bar.matches('\n').count()), (4, 1), "{bar:?}");
        assert!(bar.contains("[===============               ] step 1 of 2"), "{bar:?}");
        let lines = shown(false);
        let names: Vec<&str> = lines.lines().filter_map(|line| line.split(':').next()).collect();
        assert_eq!(names, ["text encoder", "step 1 of 2", "step 2 of 2", "VAE decoder"]);
    }
}
