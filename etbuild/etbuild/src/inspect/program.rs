//! A program file: methods, constants, segments.

use et_core::Result;
use et_format::INPUTS_KEY;
use et_format::{DataLocation, ProgramFile};
use etbuild_engine::PRODUCER_KEY;
use serde::Serialize;

use super::constant::{self, Constant};
use super::method::Method;

/// A program file, described.
#[derive(Serialize)]
pub struct ProgramDescription {
    /// The producer of the file, where the file names the producer.
    pub producer: Option<String>,
    /// The methods.
    pub methods: Vec<Method>,
    /// All tensors with elements before the first execution.
    pub constants: Vec<Constant>,
    /// The parts of the file behind the flatbuffer.
    pub segments: Vec<Segment>,
}

/// A part of the file behind the flatbuffer.
#[derive(Serialize)]
pub struct Segment {
    /// Bytes from the start of the first segment.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// The user of the segment: `constants`, `initial values`, `delegate NAME`, a key of named data.
    pub holds: Vec<String>,
}

impl ProgramDescription {
    /// Describes a program file.
    pub fn of(bytes: &[u8]) -> Result<Self> {
        let file = ProgramFile::parse(bytes)?;
        let constants = constant::of_program(&file)?;
        let text = |key: &str| file.named_data(key).ok().map(|text| String::from_utf8_lossy(text).into_owned());
        let plans = file.program().execution_plans()?;
        let methods = plans.iter().map(|plan| {
            let plan = plan?;
            let names = text(&format!("{INPUTS_KEY}{}", plan.name()?)).unwrap_or_default();
            Method::of(&file, plan, &constants, &names.lines().collect::<Vec<_>>())
        });
        Ok(Self {
            producer: text(PRODUCER_KEY),
            methods: methods.collect::<Result<_>>()?,
            segments: segments(&file)?,
            constants: constants.into_values().collect(),
        })
    }
}

fn segments(file: &ProgramFile<'_>) -> Result<Vec<Segment>> {
    let segments = file.program().segments()?;
    let mut described = Vec::new();
    for segment in segments.iter() {
        let segment = segment?;
        described.push(Segment { offset: segment.offset()?, size: segment.size()?, holds: Vec::new() });
    }
    for (index, use_of_it) in uses(file)? {
        let holds = described.get_mut(index as usize).map(|segment| &mut segment.holds);
        holds.into_iter().filter(|holds| !holds.contains(&use_of_it)).for_each(|holds| holds.push(use_of_it.clone()));
    }
    Ok(described)
}

/// The users of the segments.
fn uses(file: &ProgramFile<'_>) -> Result<Vec<(u32, String)>> {
    let program = file.program();
    let mut uses = Vec::new();
    if let Some(parts) = program.constant_segment()?.filter(|parts| parts.offsets().is_ok_and(|list| !list.is_empty()))
    {
        uses.push((parts.segment_index()?, "constants".to_owned()));
    }
    for parts in program.mutable_data_segments()?.iter() {
        uses.push((parts?.segment_index()?, "initial values".to_owned()));
    }
    for data in program.named_data()?.iter() {
        let data = data?;
        uses.push((data.segment_index()?, data.key()?.to_owned()));
    }
    for plan in program.execution_plans()?.iter() {
        for delegate in plan?.delegates()?.iter() {
            let delegate = delegate?;
            let place = delegate.processed()?;
            if place.location == DataLocation::Segment {
                uses.push((place.index, format!("delegate {}", delegate.id()?)));
            }
        }
    }
    Ok(uses)
}
