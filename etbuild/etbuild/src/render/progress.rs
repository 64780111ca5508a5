//! Progress: bars on a terminal, one line per finished stage elsewhere.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use etbuild_engine::{Event, Source, Stage};
use etbuild_store::{ActionKey, Holder, MissReason, Observer};
use indicatif::{ProgressBar, ProgressStyle};

use super::{Terminal, bytes};
use crate::arguments::Progress;

/// Shows the events of the query engine.
pub struct ProgressView {
    terminal: Terminal,
    form: Progress,
    running: Mutex<BTreeMap<ActionKey, ProgressBar>>,
    /// When a line about crates was last shown.
    crates_shown: Mutex<Option<Instant>>,
}

/// The least time between two lines about crates.
const CRATES_PAUSE: Duration = Duration::from_secs(2);

impl ProgressView {
    /// A view in the form that was asked for, or that fits the terminal.
    pub fn new(terminal: &Terminal, asked: Progress) -> Self {
        let form = match asked {
            Progress::Auto if terminal.is_interactive() => Progress::Bar,
            Progress::Auto => Progress::Plain,
            other => other,
        };
        Self { terminal: terminal.clone(), form, running: Mutex::default(), crates_shown: Mutex::default() }
    }

    fn started(&self, stage: Stage, action: ActionKey) {
        if self.form != Progress::Bar {
            return;
        }
        let bar = self.terminal.bars().add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(stage.name());
        bar.enable_steady_tick(Duration::from_millis(100));
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(action, bar);
    }

    fn ended(&self, action: ActionKey) {
        let bar = self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&action);
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    }

    fn finished(&self, stage: Stage, source: Source, size: u64) {
        let (duration, how) = match source {
            Source::Cache => return,
            Source::Run(duration) => (duration, ""),
            Source::Fetched(duration) => (duration, "  fetched"),
            Source::Worker(duration) => (duration, "  by a worker"),
        };
        let seconds = duration.as_secs_f64();
        self.say(&format!("{:<8} {seconds:>7.3} s  {:>10}{how}", stage.name(), bytes(size)));
    }

    /// Shows which crate was compiled and how far the link is: a line every few seconds, where no bar shows that work goes on.
    fn compiled(&self, package: Option<&str>, done: usize, total: usize) {
        if self.form != Progress::Plain {
            return;
        }
        let mut shown = self.crates_shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.is_some_and(|last| last.elapsed() < CRATES_PAUSE) {
            return;
        }
        *shown = Some(Instant::now());
        self.terminal.say(&crates_line(package, done, total));
    }

    fn say(&self, text: &str) {
        if self.form != Progress::None {
            self.terminal.say(text);
        }
    }
}

impl Observer<Event> for ProgressView {
    fn observe(&self, event: &Event) {
        match event {
            Event::Started { stage, action } => self.started(*stage, *action),
            Event::Ended { action, .. } => self.ended(*action),
            Event::Finished { stage, source, bytes } => self.finished(*stage, *source, *bytes),
            Event::Missed { stage, reason } => missed(*stage, reason).iter().for_each(|text| self.terminal.say(text)),
            Event::Waiting { stage, holder } => {
                self.say(&format!("{}: waiting for {}", stage.name(), waited_for(holder)));
            }
            Event::Compiled { package, done, total } => self.compiled(package.as_deref(), *done, *total),
            Event::Quantized { .. } | Event::Packed { .. } => {}
            Event::Said(text) => self.terminal.say(text),
            Event::Remote(event) => self.terminal.say(&format!("warning: {event}{}", remote(event))),
            Event::Store(event) => store(event).iter().for_each(|text| self.terminal.say(text)),
        }
    }
}

fn crates_line(package: Option<&str>, done: usize, total: usize) -> String {
    let stage = Stage::Link.name();
    match package {
        Some(package) => format!("{stage}: compiled {package}, {done} of {total} crates"),
        None => format!("{stage}: compiling, {done} of {total} crates so far"),
    }
}

/// The process or thread that runs a stage that this command wants too.
fn waited_for(holder: &Holder) -> String {
    let who = match holder.pid {
        Some(pid) if pid == std::process::id() => "another part of this command".to_owned(),
        Some(pid) => format!("process {pid}"),
        None => "another process".to_owned(),
    };
    match holder.since.and_then(|since| since.elapsed().ok()) {
        Some(time) => format!("{who}, which has run the same stage for {} s", time.as_secs()),
        None => format!("{who}, which runs the same stage"),
    }
}

/// The news of a look-up without a result: only damage is news.
fn missed(stage: Stage, reason: &MissReason) -> Option<String> {
    let stage = stage.name();
    match reason {
        MissReason::Corrupt { output, .. } => {
            Some(format!("warning: {stage}: the cached {output} was damaged; running the stage again"))
        }
        MissReason::Evicted { output, .. } => {
            Some(format!("{stage}: the cached {output} has been removed; running the stage again"))
        }
        MissReason::UnreadableRecord => {
            Some(format!("warning: {stage}: its cache record was damaged; running the stage again"))
        }
        MissReason::Unrecorded | MissReason::OtherVersion => None,
    }
}

/// The consequence of an event.
fn remote(event: &etbuild_remote::Event) -> &'static str {
    use etbuild_remote::Event as Remote;
    match event {
        Remote::Lost { fails: true, .. } => "; the build requires the remote cache",
        Remote::Lost { .. } => "; continuing without the remote cache",
        Remote::Wrong { .. } | Remote::Mismatched { .. } => "",
        Remote::NotExecuted { .. } => "; stages run locally",
        Remote::NotStored { .. } => "; builds on other machines repeat the stages",
    }
}

fn store(event: &etbuild_store::Event) -> Option<String> {
    use etbuild_store::Event as Store;
    match event {
        Store::BlobQuarantined { blob, .. } => Some(format!("warning: blob {blob} is damaged; moved to quarantine")),
        Store::RecordDiscarded { .. } | Store::TemporarySwept { .. } => None,
        Store::WaitingForCollection => Some("waiting for garbage collection in another process".to_owned()),
        Store::WaitingForBuilds => Some("waiting for builds in other processes".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_about_crates_says_how_far_the_link_is() {
        assert_eq!(crates_line(Some("et-ops"), 3, 9), "link: compiled et-ops, 3 of 9 crates");
        assert_eq!(crates_line(None, 3, 9), "link: compiling, 3 of 9 crates so far");
    }
}
