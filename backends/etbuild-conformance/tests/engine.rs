//! Whole models through all stages, with and without a backend: the outputs are equal.

mod mirror;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use et_format::ProgramFile;
use et_module::{Array, DataFiles, Engine, Engines, Error, FileBytes, Kernels, Module, Named};
use etbuild_backend::Backend;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_engine::{AbsentBackend, Event, Mode, Request, World, program_file};
use etbuild_inspect::partitions;
use etbuild_recipe::Override;
use etbuild_system::RealSystem;

use mirror::{ENGINES, FAILING, ID, MIRROR, PARTLY};

static BACKENDS: &[&dyn Backend] = &[&PARTLY, &MIRROR];

fn world(cache: &Path) -> Arc<World> {
    let silence = Arc::new(|_: &Event| {});
    let world = World::open(Arc::new(RealSystem::default()), cache, silence, Mode::Build, 1).unwrap();
    Arc::new(world.backends(BACKENDS))
}

fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// The program file with partitions for these backends.
fn compiled(world: &Arc<World>, model: &Path, engines: &str) -> Vec<u8> {
    let overrides = [partition(engines)];
    program_file(world, model, &overrides).unwrap().to_vec()
}

fn partition(engines: &str) -> Override {
    Override::parse(&format!("partition=[{engines}]")).unwrap()
}

fn kernel(name: &str, overload: &str) -> Option<et_core::Kernel> {
    let name = if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") };
    et_ops::find_kernel(&name)
}

fn load(file: &[u8], engines: &Engines) -> Result<Module, Error> {
    let file = FileBytes::copied(file);
    Module::load_method(file, DataFiles::default(), "forward", Kernels::Lookup(&kernel), engines)
}

/// The outputs of the program for inputs without repeated values.
fn outputs(file: &[u8]) -> Named<Array> {
    let mut module = load(file, &Engines::new(ENGINES, 2)).unwrap();
    let mut inputs = Named::new();
    for index in 0..module.input_names().len() {
        let wanted = module.input_type(index).unwrap().unwrap();
        let mut array = Array::zeros(wanted.scalar_type, &wanted.shape);
        if wanted.scalar_type == et_core::ScalarType::Float {
            let count = wanted.shape.iter().product();
            let elements: Vec<f32> = (0..count).map(|element| (element as f32 * 0.37).sin()).collect();
            array = Array::floats(&wanted.shape, &elements).unwrap();
        }
        inputs.insert(module.input_names()[index].clone(), array);
    }
    let views = inputs.iter().map(|(name, array)| (name.clone(), array.view())).collect();
    module.run(&views).unwrap()
}

fn delegates(file: &[u8]) -> usize {
    let file = ProgramFile::parse(file).unwrap();
    let delegates = file.program().execution_plan(0).unwrap().delegates().unwrap();
    delegates.iter().for_each(|delegate| assert_eq!(delegate.unwrap().id().unwrap(), ID));
    delegates.len()
}

const MODELS: [&str; 4] = [
    "examples/digits/digits.pt2",
    "etbuild/etbuild-import/tests/data/attention.pt2",
    "etbuild/etbuild-import/tests/data/images.pt2",
    "etbuild/etbuild-import/tests/data/elementwise.pt2",
];

#[test]
fn a_model_on_a_backend_equals_the_portable_kernels() {
    let cache = tempfile::tempdir().unwrap();
    let world = world(cache.path());
    for name in MODELS {
        let model = model(name);
        let portable = compiled(&world, &model, "portable");
        assert_eq!(delegates(&portable), 0, "{name}");
        let expected = outputs(&portable);
        for engines in ["mirror", "partly", "partly, mirror", "partly, portable, mirror"] {
            let file = compiled(&world, &model, engines);
            assert_eq!(outputs(&file), expected, "{name} on {engines}");
        }
        let whole = compiled(&world, &model, "mirror");
        assert_eq!(delegates(&whole), 1, "{name} is one partition");
        let called =
            ProgramFile::parse(&whole).unwrap().program().execution_plan(0).unwrap().operators().unwrap().len();
        assert_eq!(called, 0, "{name} calls no kernel");
    }
}

#[test]
fn a_program_without_its_delegate_is_refused() {
    let cache = tempfile::tempdir().unwrap();
    let file = compiled(&world(cache.path()), &model(MODELS[0]), "mirror");
    let refused = load(&file, &Engines::none()).err().unwrap();
    assert!(matches!(&refused, Error::DelegatesMissing(names) if names[..] == [ID]), "{refused}");
}

#[test]
fn a_failed_delegate_is_told_in_the_words_of_its_backend() {
    let cache = tempfile::tempdir().unwrap();
    let file = compiled(&world(cache.path()), &model(MODELS[0]), "mirror");
    let [absent, broken] = FAILING.map(|table| Engines::new(table, 1));
    assert_eq!(load(&file, &absent).err().unwrap().to_string(), "delegate 0: no mirror");
    let failed = load(&file, &broken).unwrap().execute().unwrap_err();
    assert_eq!(failed.to_string(), format!("instruction 0: {ID}: it broke"));
    let wordless: &[Engine] = &[Engine { problem: || None, ..FAILING[0][0] }];
    let wordless = Engines::new(Box::leak(wordless.into()), 1);
    assert_eq!(load(&file, &wordless).err().unwrap().to_string(), "delegate 0: not supported");
}

#[test]
fn a_backend_that_a_build_lacks_is_refused_with_its_feature() {
    static ABSENT: &[AbsentBackend] = &[AbsentBackend {
        name: "absent",
        refusal: || Diagnostic::error(Code::FeatureMissing, "a feature is missing"),
    }];
    let cache = tempfile::tempdir().unwrap();
    let silence = Arc::new(|_: &Event| {});
    let world = World::open(Arc::new(RealSystem::default()), cache.path(), silence, Mode::Build, 1).unwrap();
    let world = Arc::new(world.backends(BACKENDS).absent_backends(ABSENT));
    let found = program_file(&world, &model(MODELS[0]), &[partition("absent")]).unwrap_err();
    assert_eq!((found[0].code.id(), found[0].message.as_str()), ("ETB0805", "a feature is missing"));
    assert!(found[0].span.is_some());
    assert_eq!(program_file(&world, &model(MODELS[0]), &[partition("absnt")]).unwrap_err()[0].code.id(), "ETB0204");
}

#[test]
fn an_unknown_backend_is_reported_with_the_known_backends() {
    let cache = tempfile::tempdir().unwrap();
    let overrides = [partition("mirrr")];
    let found = program_file(&world(cache.path()), &model(MODELS[0]), &overrides).unwrap_err();
    assert_eq!((found[0].code.id(), found[0].help.as_deref()), ("ETB0204", Some("did you mean `mirror`?")));
    assert_eq!(found[0].notes, ["the backends are partly, mirror, auto, portable"]);
}

#[test]
fn every_node_reports_its_backend_and_its_rejections() {
    let cache = tempfile::tempdir().unwrap();
    let request = Request {
        recipes: vec![model(MODELS[0])],
        overrides: vec![partition("partly")],
        targets: vec!["linux-x86_64".to_owned()],
        only: Vec::new(),
    };
    let units = partitions(&world(cache.path()), &request).unwrap();
    let nodes = &units[0].nodes;
    let (taken, left): (Vec<_>, Vec<_>) = nodes.iter().partition(|node| node.engine.as_deref() == Some("partly"));
    assert!(!taken.is_empty() && !left.is_empty());
    assert!(taken.iter().all(|node| node.partition.is_some() && node.refusals.is_empty()));
    assert!(left.iter().all(|node| node.refusals.len() == 1 && !node.refusals[0].reason.is_empty()));
}

#[test]
fn the_default_is_the_best_backends_of_the_target() {
    let cache = tempfile::tempdir().unwrap();
    let world = world(cache.path());
    let calls = |options: &[&str]| {
        let overrides: Vec<Override> = options.iter().map(|option| Override::parse(option).unwrap()).collect();
        delegates(&program_file(&world, &model(MODELS[0]), &overrides).unwrap())
    };
    assert!(calls(&[]) > 0);
    assert_eq!(calls(&[]), calls(&["partition=[partly, mirror]"]));
    assert_eq!(calls(&["partition=portable"]), 0);
    // ExecuTorch's runtime has no backend of etbuild.
    assert_eq!(calls(&["runtime=executorch"]), 0);
}
