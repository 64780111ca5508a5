//! A request for a picture.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use et_module::peak_rss_mib;

use super::{Progress, Request};
use crate::{Error, Picture, Pipeline, Settings, Times, WritePicture};

/// A picture that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// The file, if one was written.
    pub path: Option<PathBuf>,
    /// The picture.
    pub picture: Picture,
    /// The settings of the picture.
    pub settings: Settings,
    /// The times of the stages.
    pub times: Times,
    /// The milliseconds from the request to the file.
    pub total_ms: f64,
    /// The number of threads for backends.
    pub threads: usize,
}

impl Done {
    /// The settings and the times as one JSON object.
    pub fn json(&self) -> String {
        let Self { picture: Picture { width, height, .. }, settings, times, total_ms, threads, .. } = self;
        let Settings { steps, guidance, seed } = settings;
        let peak = peak_rss_mib().map_or("null".to_owned(), |peak| format!("{peak:.3}"));
        format!(
            r#"{{"width": {width}, "height": {height}, "steps": {steps}, "guidance": {guidance}, "seed": {seed}, {times}, "total_ms": {total_ms:.3}, "threads": {threads}, "peak_rss_mib": {peak}}}"#
        )
    }
}

/// Makes the picture of a request, and writes the file that the request names.
///
/// # Errors
/// The first failure of the request.
pub fn picture(
    pipeline: &Pipeline<'_>,
    request: &Request,
    write: WritePicture,
    progress: &mut Progress<'_>,
) -> Result<Done, Error> {
    let start = Instant::now();
    let path = request.outputs.clone();
    let folder = path.as_deref().and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        // A picture takes minutes: the mistake shows before.
        return Err(Error::File { path: folder.to_owned(), problem: "there is no such folder".to_owned() });
    }
    let settings = request.settings(pipeline.facts().settings);
    let [prompt, negative] = [&request.prompt, &request.negative].map(|text| text.as_deref().unwrap_or_default());
    let (given, cuts) = pipeline.read(prompt, negative)?;
    for (name, cut) in ["prompt", "negative prompt"].into_iter().zip(cuts).filter(|(_, cut)| *cut > 0) {
        let most = pipeline.facts().tokens;
        progress.note(&format!("the {name} was cut to {most} tokens: {cut} tokens were left out"))?;
    }
    let made = pipeline.make(&given, &settings, &mut |stage| progress.show(stage));
    progress.end()?;
    let (sizes, numbers, times) = made?;
    let picture = Picture::of(&sizes, &numbers)?;
    if let Some(path) = &path {
        let failed = |problem: String| Error::File { path: path.clone(), problem };
        let bytes = write(picture.width, picture.height, &picture.pixels).map_err(failed)?;
        fs::write(path, bytes).map_err(|error| failed(error.to_string()))?;
    }
    let total_ms = start.elapsed().as_secs_f64() * 1e3;
    Ok(Done { path, picture, settings, times, total_ms, threads: pipeline.threads() })
}
