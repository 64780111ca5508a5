//! Models with state that is no KV cache: texts that are cut, shared, saved, and decoded beside others give the logits of a text that is
//! read at once. Small models with random weights need `ETBUILD_TEST_PYTHON`, a Python with torch and transformers; without it these tests
//! fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use et_llm::{Batch, Draft, Model};
use et_module::safetensors::{SafeTensors, write_with_texts};
use et_module::{DataFiles, Engines, FileBytes, Kernels};
use etbuild_engine::{Event, Mode, World, program_file};
use etbuild_recipe::Override;
use etbuild_system::RealSystem;

use crate::support::logits::{BACKENDS, ENGINES, difference, kernel};
use crate::support::{self, Place};

/// Five families with state: three with state spaces, two of which have no attention, one with linear attention, and one with short convolutions.
const FAMILIES: [&str; 5] = ["granite-hybrid", "mamba", "mamba2", "qwen3-next", "lfm2"];
/// Tokens of a chunk.
const PIECE: usize = 16;

/// The folder of the families, written once; `None` without a Python.
fn checkpoints() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let arguments = [&["1"][..], &FAMILIES].concat();
    let folder =
        FOLDER.get_or_init(|| support::python::written_by("families.py", "torch and transformers", &arguments));
    folder.as_ref().map(tempfile::TempDir::path)
}

/// The program file of a checkpoint.
fn built(place: &Place, folder: &Path, more: &[&str]) -> Vec<u8> {
    let world = World::open(Arc::new(RealSystem::default()), &place.cache(), Arc::new(|_: &Event| {}), Mode::Build, 1);
    let world = world.unwrap().backends(BACKENDS);
    let prefill = format!("export.prefill={PIECE}");
    let options = ["export.context=128", &prefill, "partition=[cpu]"];
    let options: Vec<Override> = options.iter().chain(more).map(|text| Override::parse(text).unwrap()).collect();
    program_file(&Arc::new(world), &folder.join("model"), &options).unwrap().to_vec()
}

struct File(Rc<FileBytes>, Engines);

impl File {
    fn new(bytes: &[u8]) -> Self {
        Self(Rc::new(FileBytes::copied(bytes)), Engines::new(ENGINES, 1))
    }

    fn model(&self) -> Model {
        Model::load(&self.0, || Ok(DataFiles::default()), Kernels::Lookup(&kernel), &self.1).unwrap()
    }

    fn batch(&self, models: &[Model]) -> Batch {
        Batch::load(&self.0, DataFiles::default(), Kernels::Lookup(&kernel), &self.1, models).unwrap()
    }
}

/// The families, each with the program.
fn programs(more: &[&str]) -> Vec<(&'static str, File)> {
    let Some(folder) = checkpoints() else { return Vec::new() };
    let place = Place::cold();
    FAMILIES.into_iter().map(|name| (name, File::new(&built(&place, &folder.join(name), more)))).collect()
}

/// A text without a pattern.
fn text(length: u32, begin: u32) -> Vec<u32> {
    (begin..begin + length).map(|index| 3 + index * index * 31 % 197).collect()
}

/// Whether logits are those behind a text that a new model reads at once.
fn check(name: &str, file: &File, text: &[u32], logits: &[f32]) {
    let most = difference(file.model().read(text).unwrap(), logits);
    assert!(most < 1e-4, "{name}: {most}");
}

#[test]
fn a_text_goes_on_behind_any_of_its_tokens() {
    for (name, file) in programs(&[]) {
        let (whole, other) = (text(70, 0), text(40, 90));
        for same in [69, 60, 37, 3] {
            let next = [&whole[..same], &other].concat();
            let mut model = file.model();
            model.read(&whole).unwrap();
            // A state space is behind its last token and nowhere else; a convolution has the rows of a piece.
            let expected = if name == "lfm2" && same > 37 { same } else { 0 };
            assert_eq!(model.kept(&next), expected, "{name}: {same}");
            let known = model.rewind(&next);
            assert_eq!((known, model.tokens().len()), (expected, expected), "{name}: {same}");
            check(name, &file, &next, model.read(&next[known..]).unwrap());
        }
        let mut model = file.model();
        model.read(&whole).unwrap();
        let longer = [&whole[..], &other].concat();
        assert_eq!(model.rewind(&longer), whole.len(), "{name}");
        check(name, &file, &longer, model.read(&longer[whole.len()..]).unwrap());
    }
}

#[test]
fn a_text_begins_anew_without_the_state_of_the_last_one() {
    for (name, file) in programs(&[]) {
        let mut model = file.model();
        model.read(&text(50, 0)).unwrap();
        for begin in [[9].as_slice(), &text(20, 7)] {
            model.reset();
            check(name, &file, begin, model.read(begin).unwrap());
        }
    }
}

#[test]
fn texts_of_a_batch_keep_their_state_while_others_are_read() {
    for (name, file) in programs(&["export.batch=3"]) {
        let mut models = [file.model(), file.model(), file.model()];
        let texts = [text(40, 0), text(33, 50), text(20, 100)];
        for (model, text) in models.iter_mut().zip(&texts) {
            model.read(&text[..text.len() - 9]).unwrap();
        }
        let mut batch = file.batch(&models);
        // The first reads in each call, the second in each other one, and the third ahead of the last calls.
        let mut left = texts.each_ref().map(|text| text[text.len() - 9..].iter().copied());
        for step in 0..18 {
            let has_turn = [step < 9, step % 2 == 1, (3..12).contains(&step)];
            let mut rows: Vec<(&mut Model, Option<u32>)> = models
                .iter_mut()
                .zip(&mut left)
                .zip(has_turn)
                .map(|((model, left), has_turn)| (model, if has_turn { left.next() } else { None }))
                .collect();
            batch.read(&mut rows).unwrap();
        }
        for (model, text) in models.iter().zip(&texts) {
            assert_eq!(model.tokens(), text);
            check(name, &file, text, model.logits());
        }
    }
}

#[test]
fn nothing_is_kept_of_a_text_that_the_program_failed_to_read() {
    // Without a limit, the program notices that a KV cache is full, when the layers ahead have read the tokens.
    for (name, file) in programs(&["export.batch=2"]).into_iter().filter(|(name, _)| !name.starts_with("mamba")) {
        let mut model = file.model();
        model.read(&text(120, 0)).unwrap();
        model.read(&text(20, 50)).unwrap_err();
        assert_eq!(model.tokens(), [0; 0], "{name}");
        check(name, &file, &text(20, 7), model.read(&text(20, 7)).unwrap());
        let mut models = [file.model(), file.model()];
        for (model, length) in models.iter_mut().zip([128, 9]) {
            model.read(&text(length, 0)).unwrap();
        }
        let mut batch = file.batch(&models);
        let mut rows: Vec<(&mut Model, Option<u32>)> = models.iter_mut().map(|model| (model, Some(5))).collect();
        batch.read(&mut rows).unwrap_err();
        for model in &mut models {
            assert_eq!(model.tokens(), [0; 0], "{name}");
            check(name, &file, &text(20, 7), model.read(&text(20, 7)).unwrap());
        }
    }
}

#[test]
fn a_prefix_is_shared_where_the_state_is_behind_it() {
    for (name, file) in programs(&[]) {
        let (prefix, rest) = (text(30, 0), text(12, 60));
        let prompt = [&prefix[..], &rest].concat();
        let mut donor = file.model();
        donor.read(&prefix).unwrap();
        assert_eq!(donor.offered(donor.tokens(), &prompt), prefix.len(), "{name}");
        let mut model = file.model();
        model.take_prefix(&donor, prefix.len()).unwrap();
        check(name, &file, &prompt, model.read(&rest).unwrap());
        donor.read(&[5, 6]).unwrap();
        assert_eq!(donor.offered(donor.tokens(), &prompt), if name == "lfm2" { prefix.len() } else { 0 }, "{name}");
    }
}

#[test]
fn a_saved_text_goes_on() {
    for (name, file) in programs(&[]) {
        let (begin, rest) = (text(45, 0), text(12, 60));
        let mut model = file.model();
        model.limit(Some(128));
        model.read(&begin).unwrap();
        let mut bytes = Vec::new();
        write_with_texts(&model.save().unwrap(), &Default::default(), &mut bytes).unwrap();
        let mut other = file.model();
        other.restore(&SafeTensors::parse(&bytes).unwrap()).unwrap();
        check(name, &file, &[&begin[..], &rest].concat(), other.read(&rest).unwrap());
    }
}

#[test]
fn draft_tokens_are_refused_for_state_that_cannot_be_taken_back() {
    let Some(folder) = checkpoints() else { return };
    let place = Place::cold();
    let build = |name: &str| {
        let folder = folder.join(name).join("model");
        place.run(&format!("build {} --target linux-x86_64 --set export.speculate=4", folder.display()))
    };
    let refused = build("mamba2").expect(4).stderr;
    assert!(refused.contains("`export.speculate` is for models that can take tokens back"), "{refused}");
    build("lfm2").expect(0);
}

#[test]
fn a_draft_model_can_take_tokens_back() {
    let Some(folder) = checkpoints() else { return };
    let place = Place::cold();
    for (name, is_refused) in [("mamba", true), ("granite-hybrid", true), ("lfm2", false)] {
        let path = place.path().join(format!("{name}.pte"));
        std::fs::write(&path, built(&place, &folder.join(name), &[])).unwrap();
        let engines = Engines::new(ENGINES, 1);
        let loaded = Draft::load(&path, 211, Kernels::Lookup(&kernel), &engines);
        let said = loaded.err().map(|error| error.to_string());
        assert_eq!(said.is_some(), is_refused, "{name}: {said:?}");
        assert!(said.is_none_or(|said| said.contains("rejected draft tokens cannot be taken back")), "{name}");
    }
}
