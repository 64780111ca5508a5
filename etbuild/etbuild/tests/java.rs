//! Packages for Java and Android: the Kotlin API on a virtual machine of this machine, and archives for Android. Needs a JDK (`java`) and the
//! compiler of Kotlin (`kotlinc`, or its path in `ETBUILD_TEST_KOTLINC`); without them a test is skipped with a message, except where emulators
//! are required.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use et_module::safetensors::SafeTensors;
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, elf};
use zip::ZipArchive;

use crate::support::programs::{compiler, has};
use crate::support::{Place, Ran, repository, tensors, unit};

const TARGET: &str = "linux-x86_64";
/// The compiled classes of the Kotlin package.
const CLASSES: &str = "templates/java/classes.jar";
const CASES: usize = 40;
const PROMPT: &str = "Once there was a fox";
const QUESTION: &str = "Tell me a story about a caf\u{e9} \u{1f600}.";

/// The version that classes are compiled for: Java 8, and Kotlin 2.1 and later.
const OPTIONS: &str = "-module-name etbuild -Xexplicit-api=strict -jvm-target 1.8 -Xjdk-release=8 -language-version 2.2 -api-version 2.2 -Werror";

/// The compiler of Kotlin with the folder of its libraries; `None` where it or Java is missing.
fn kotlin() -> Option<(String, PathBuf)> {
    let compiler = compiler("ETBUILD_TEST_KOTLINC", "kotlinc");
    if !has("java", &["-version"]) || !has(&compiler, &["-version"]) {
        return None;
    }
    let found = if compiler.contains('/') {
        PathBuf::from(&compiler)
    } else {
        let path = std::env::var_os("PATH").unwrap();
        std::env::split_paths(&path).map(|folder| folder.join(&compiler)).find(|path| path.is_file()).unwrap()
    };
    let libraries = fs::canonicalize(found).unwrap().parent().unwrap().parent().unwrap().join("lib");
    Some((compiler, libraries))
}

/// Compiles sources against JAR files to a folder of classes.
fn compile(compiler: &str, options: &str, sources: &[PathBuf], jars: &[PathBuf], classes: &Path) {
    let mut command = Command::new(compiler);
    // A short run: the second compiler of the virtual machine would take longer than it saves.
    command.env("JAVA_OPTS", "-XX:TieredStopAtLevel=1").args(options.split_whitespace()).arg("-no-reflect");
    command.arg("-cp").arg(std::env::join_paths(jars).unwrap()).arg("-d").arg(classes).args(sources);
    Ran::of(&mut command).expect(0);
}

/// The sources of a folder, in order.
fn sources(folder: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(repository().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ending| ending == "kt")).collect();
    files.sort();
    files
}

/// The files of an archive by name.
fn contents(archive: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut archive = ZipArchive::new(File::open(archive).unwrap()).unwrap();
    let mut files = BTreeMap::new();
    for index in 0..archive.len() {
        let (mut file, mut bytes) = (archive.by_index(index).unwrap(), Vec::new());
        file.read_to_end(&mut bytes).unwrap();
        files.insert(file.name().unwrap().into_owned(), bytes);
    }
    files
}

/// The files below a folder by path.
fn below(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            below(&entry.path(), &format!("{name}/"), files);
        } else {
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
}

/// Writes files to an archive, in the order of their names, with fixed times.
fn write(files: &BTreeMap<String, Vec<u8>>, archive: &Path) {
    use std::io::Write;
    let options = zip::write::SimpleFileOptions::default().last_modified_time(zip::DateTime::DEFAULT);
    let mut zip = zip::ZipWriter::new(File::create(archive).unwrap());
    for (name, bytes) in files {
        zip.start_file(name.as_str(), options.unix_permissions(0o644)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

/// The repository has the classes compiled, so that users need no compiler. With `ETBUILD_UPDATE_GOLDEN` set, writes them.
#[test]
fn the_compiled_classes_are_those_that_the_compiler_makes_of_the_sources() {
    let Some((compiler, libraries)) = kotlin() else { return };
    let place = Place::cold();
    let classes = place.path().join("classes");
    let coroutines = [libraries.join("kotlinx-coroutines-core-jvm.jar")];
    compile(&compiler, OPTIONS, &sources("templates/java/kotlin"), &coroutines, &classes);
    let mut made = BTreeMap::new();
    below(&classes, "", &mut made);
    let kept = repository().join(CLASSES);
    if std::env::var_os("ETBUILD_UPDATE_GOLDEN").is_some() {
        write(&made, &kept);
    }
    let kept = contents(&kept);
    assert_eq!(made.keys().collect::<Vec<_>>(), kept.keys().collect::<Vec<_>>());
    let changed: Vec<&String> = made.keys().filter(|name| made[*name] != kept[*name]).collect();
    assert!(changed.is_empty(), "{changed:?}: run this test with ETBUILD_UPDATE_GOLDEN=1");
}

/// The programs in Kotlin of the tests, compiled once.
pub struct App {
    classes: Vec<PathBuf>,
}

impl App {
    /// `None` where the compiler or Java is missing.
    pub fn compiled() -> Option<&'static Self> {
        static APP: OnceLock<Option<App>> = OnceLock::new();
        APP.get_or_init(|| {
            let (compiler, libraries) = kotlin()?;
            let app = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kotlin-{}", std::process::id()));
            let jars = ["kotlin-stdlib.jar", "kotlinx-coroutines-core-jvm.jar"].map(|jar| libraries.join(jar));
            let classes: Vec<PathBuf> = [repository().join(CLASSES)].into_iter().chain(jars).collect();
            let mut files = sources("etbuild/etbuild/tests/data/kotlin");
            // The part of the sample app without Android.
            files.push(repository().join("examples/android/app/src/main/kotlin/story/Storyteller.kt"));
            compile(&compiler, "", &files, &classes, &app);
            Some(Self { classes: [app].into_iter().chain(classes).collect() })
        })
        .as_ref()
    }

    /// A virtual machine for the main function of a file, with the shared libraries in folders.
    pub fn run(&self, main: &str, libraries: &[&Path]) -> Command {
        let mut command = Command::new("java");
        command.args(["-Xcheck:jni", "-XX:TieredStopAtLevel=1"]);
        let mut path = OsString::from("-Djava.library.path=");
        path.push(std::env::join_paths(libraries).unwrap());
        command.arg(path).arg("-cp").arg(std::env::join_paths(&self.classes).unwrap()).arg(main);
        command
    }
}

#[test]
fn an_app_in_kotlin_equals_pytorch_and_the_binaries() {
    let Some(app) = App::compiled() else { return };
    let place = Place::cold_with_compiled_crates();
    let build = "build recipes/digits.yaml recipes/tiny-llama.yaml --set library=true --target linux-x86_64";
    place.run(build).expect(0);
    let [digits, llama] = ["digits", "tiny-llama"].map(|recipe| place.out().join(recipe).join(TARGET));
    let kept = fs::read(repository().join(CLASSES)).unwrap();
    assert!(
        fs::read(digits.join("digits.jar")).unwrap() == kept && fs::read(llama.join("tiny-llama.jar")).unwrap() == kept
    );
    classifies(&place, app.run("ClassifyKt", &[&digits]), &digits);
    tells(app.run("TellKt", &[&digits, &llama]), &llama, &digits);
}

fn classifies(place: &Place, mut java: Command, digits: &Path) {
    let test = repository().join("examples/digits/test.safetensors");
    let bytes = fs::read(&test).unwrap();
    let images = place.file("images", &SafeTensors::parse(&bytes).unwrap().tensors["x"].bytes[..CASES * 4 * 64]);
    let program = fs::read(digits.join("digits.pte")).unwrap();
    let damaged = place.file("damaged.pte", &program[..program.len() / 2]);
    let ran = Ran::of(java.arg("digits").arg(digits.join("digits.pte")).arg(images).arg(damaged)).expect(0);
    assert!(!ran.stdout.contains("WARNING") && !ran.stderr.contains("WARNING"), "{}{}", ran.stdout, ran.stderr);
    let mut lines = ran.stdout.lines();
    let wanted = tensors::predictions(&test).into_iter().take(CASES).map(|digit| digit.to_string());
    assert_eq!(lines.by_ref().take(CASES).collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
    let problems = [
        "EtbuildException: /nothing/\u{1f600}.pte: No such file or directory",
        "EtbuildException: the program file is malformed",
        "EtbuildException: no method backward",
        "EtbuildException: a number of threads is from 1 to 256, not 1000",
        "EtbuildException: the library is one of a program",
        "EtbuildException: input x: int64[1, 1, 8, 8] was given",
        "EtbuildException: input x: float32[1, 1, 8, 9] was given",
        "IllegalArgumentException: the method has 1 inputs, and 0 are given",
        "IllegalArgumentException: output 0 is FLOAT32 [1, 10]",
        "IllegalStateException: the model is closed",
        "IllegalArgumentException: a tensor [2, 2] does not have 3 elements",
        "IllegalArgumentException: the buffer of a tensor is not direct",
    ];
    compare(&lines.collect::<Vec<_>>(), &problems);
}

fn tells(mut java: Command, llama: &Path, digits: &Path) {
    java.arg("tiny-llama").arg(llama.join("tiny-llama.pte")).args([PROMPT, QUESTION]);
    let ran = Ran::of(java.arg("digits").arg(digits.join("digits.pte"))).expect(0);
    assert!(!ran.stderr.contains("WARNING"), "{}", ran.stderr);
    let told = ran.json();
    let said = |arguments: &[&str]| {
        let mut binary = Command::new(llama.join("tiny-llama"));
        Ran::of(binary.args(arguments).args(["--max-new-tokens", "24"])).expect(0).stdout
    };
    assert_eq!(told["text"].as_str().unwrap(), said(&["--prompt", PROMPT]).trim_end_matches('\n'));
    assert_eq!(told["answer"].as_str().unwrap(), said(&["--chat", "--prompt", QUESTION]).trim_end_matches('\n'));
    assert!(told["cancelled"].as_u64().unwrap() < 100 && told["context"] == 512, "{told}");
    let problems = [
        "EtbuildException: 8002 tokens are more than the context of 512",
        "EtbuildException: top_p is 7, but must be from 0 to 1",
        "EtbuildException: a number is negative",
        "EtbuildException: `json_schema`, `regex` and `grammar` do not go together",
        "EtbuildException: the model reads no pictures",
        "EtbuildException: a text contains a zero character",
        "EtbuildException: the model does not hear",
        "IllegalStateException: enough of it",
    ];
    let found: Vec<&str> = told["problems"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    compare(&found, &problems);
}

#[track_caller]
fn compare(found: &[&str], wanted: &[&str]) {
    assert_eq!(found.len(), wanted.len(), "{found:#?}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(found.starts_with(wanted), "{found}: {wanted} is wanted");
    }
}

#[test]
fn an_archive_for_android_has_the_libraries_of_all_processors() {
    let place = Place::cold_with_compiled_crates();
    let build = "build recipes/digits.yaml --set library=true --target android-arm64 --target android-x86_64";
    let result = place.json(build);
    let out = place.out().join("digits");
    let files = contents(&out.join("digits.aar"));
    let names = "AndroidManifest.xml META-INF/com/android/build/gradle/aar-metadata.properties R.txt classes.jar \
                 jni/arm64-v8a/libdigits.so jni/x86_64/libdigits.so proguard.txt";
    assert_eq!(files.keys().map(String::as_str).collect::<Vec<_>>(), names.split_whitespace().collect::<Vec<_>>());
    let manifest = String::from_utf8_lossy(&files["AndroidManifest.xml"]);
    assert!(manifest.contains("package=\"etbuild.model.digits\"") && manifest.contains("minSdkVersion=\"26\""));
    assert_eq!(files["classes.jar"], fs::read(repository().join(CLASSES)).unwrap());
    let reported = unit(&result, "android-arm64")["files"].as_array().unwrap();
    assert!(reported.iter().any(|file| file["path"].as_str().unwrap().ends_with("out/digits/digits.aar")));
    for (target, abi, machine) in
        [("android-arm64", "arm64-v8a", elf::EM_AARCH64), ("android-x86_64", "x86_64", elf::EM_X86_64)]
    {
        let library = &files[&format!("jni/{abi}/libdigits.so")];
        assert_eq!(*library, fs::read(out.join(target).join("libdigits.so")).unwrap());
        check_library(library, machine, &files["classes.jar"]);
        let own = contents(&out.join(target).join("digits.aar"));
        assert!(own.len() == files.len() - 1 && own[&format!("jni/{abi}/libdigits.so")] == *library);
    }
    let first = fs::read(out.join("digits.aar")).unwrap();
    fs::remove_file(out.join("digits.aar")).unwrap();
    place.run(build).expect(0);
    assert_eq!(fs::read(out.join("digits.aar")).unwrap(), first);
    // An app that keeps the path must not get the libraries of another build.
    place.run("build recipes/digits.yaml --set library=true --target android-arm64").expect(0);
    assert!(!out.join("digits.aar").exists() && out.join("android-arm64/digits.aar").exists());
}

/// A library has the native methods of the classes, for pages of 16 KiB.
fn check_library(bytes: &[u8], machine: elf::Machine, classes: &[u8]) {
    let file = ElfFile64::<Endianness>::parse(bytes).unwrap();
    assert_eq!(file.elf_header().e_machine.get(Endianness::Little), machine);
    let loaded = file.elf_program_headers().iter().filter(|header| header.p_type(Endianness::Little) == elf::PT_LOAD);
    assert!(loaded.map(|header| header.p_align(Endianness::Little)).all(|alignment| alignment == 16_384));
    let symbols = file.dynamic_symbols().filter(ObjectSymbol::is_definition);
    let exported: Vec<&str> = symbols.map(|symbol| symbol.name().unwrap()).collect();
    let mut native = ZipArchive::new(std::io::Cursor::new(classes)).unwrap();
    let mut class = Vec::new();
    native.by_name("etbuild/Native.class").unwrap().read_to_end(&mut class).unwrap();
    let methods: Vec<&str> = exported.iter().filter_map(|name| name.strip_prefix("Java_etbuild_Native_")).collect();
    assert!(methods.len() > 15 && exported.contains(&"JNI_OnLoad"), "{exported:?}");
    for method in methods {
        assert!(class.windows(method.len()).any(|name| name == method.as_bytes()), "`Native` has no `{method}`");
    }
}
