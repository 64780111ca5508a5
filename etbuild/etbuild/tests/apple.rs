//! Packages for Swift: the framework for Apple's platforms, and the Swift API compiled and run on this machine. The second needs a compiler of
//! Swift, `swiftc` or its path in `ETBUILD_TEST_SWIFTC`; without one the test is skipped with a message.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use et_module::safetensors::SafeTensors;
use object::macho::{CPU_TYPE_ARM64, LC_VERSION_MIN_IPHONEOS, MachHeader64, PLATFORM_IOS, PLATFORM_MACOS, Platform};
use object::read::archive::ArchiveFile;
use object::read::macho::{MachHeader, MachOFile64};
use object::{Endianness, Object, ObjectSymbol};

use crate::support::programs::{compiler, has_required};
use crate::support::{Place, Ran, repository, tensors, unit};

const CASES: usize = 40;
const PROMPT: &str = "Once there was a fox";
const QUESTION: &str = "Tell me a story about a caf\u{e9} \u{1f600}.";
const BUILD: &str = "deploy recipes/digits.yaml --target ios-arm64 --target macos-arm64";

#[test]
fn a_package_for_swift_has_a_library_that_links_for_each_platform() {
    let place = Place::cold_with_compiled_crates();
    let result = place.json(BUILD);
    let ios = unit(&result, "ios-arm64");
    let notes = ios["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().starts_with("a library for apps and no binary")), "{ios}");
    let package = place.out().join("digits/swift");
    let reported = ios["files"].as_array().unwrap();
    assert!(reported.iter().any(|file| file["path"].as_str().unwrap().ends_with("out/digits/swift/Package.swift")));
    let framework = package.join("digits.xcframework");
    let list = fs::read_to_string(framework.join("Info.plist")).unwrap();
    for (identifier, platform, version) in
        [("ios-arm64", PLATFORM_IOS, "ios 13.0 13.0"), ("macos-arm64", PLATFORM_MACOS, "macos 11.0 11.0")]
    {
        assert!(list.contains(&format!("<key>LibraryIdentifier</key>\n\t\t\t<string>{identifier}</string>")), "{list}");
        let library = framework.join(identifier).join("libdigits.a");
        check_objects(&fs::read(&library).unwrap(), platform);
        let linked = place.path().join(identifier);
        link(&library, version, &linked);
        check_functions(&fs::read(linked).unwrap(), &called(&package.join("Sources/Etbuild")), &[]);
        check_headers(&framework.join(identifier).join("Headers"), &place.path().join("app.c"));
    }
    let first = fs::read(framework.join("ios-arm64/libdigits.a")).unwrap();
    fs::remove_dir_all(&package).unwrap();
    place.run(BUILD).expect(0);
    assert!(fs::read(framework.join("ios-arm64/libdigits.a")).unwrap() == first);
    assert_eq!(fs::read_to_string(framework.join("Info.plist")).unwrap(), list);
    check_leftovers(&place, &package);
}

/// What another build left in the folders of the package goes, and a file of Xcode's stays.
fn check_leftovers(place: &Place, package: &Path) {
    let (framework, xcode) = (package.join("digits.xcframework"), package.join(".swiftpm/config"));
    let source = package.join("Sources/Etbuild/Former.swift");
    fs::write(&source, "no Swift").unwrap();
    fs::create_dir_all(xcode.parent().unwrap()).unwrap();
    fs::write(&xcode, "kept").unwrap();
    place.run("deploy recipes/digits.yaml --target ios-arm64").expect(0);
    assert!(framework.join("ios-arm64/libdigits.a").exists() && !framework.join("macos-arm64").exists());
    assert!(!source.exists() && xcode.exists());
}

#[test]
fn a_program_for_the_gpu_has_kernels_for_metal_and_links_metal() {
    let place = Place::cold_with_compiled_crates();
    place.run(&format!("{BUILD} --partition gpu,cpu")).expect(0);
    let package = place.out().join("digits/swift");
    let manifest = fs::read_to_string(package.join("Package.swift")).unwrap();
    for line in [".linkedFramework(\"Foundation\"), .linkedFramework(\"Metal\")", "[.iOS(\"14.0\"), .macOS(\"11.0\")]"]
    {
        assert!(manifest.contains(line), "{manifest}");
    }
    let called = called(&package.join("Sources/Etbuild"));
    // Each system opens the GPU by a function of its own.
    let systems =
        [("ios-arm64", "ios 13.0 13.0", "_MTLCreate"), ("macos-arm64", "macos 11.0 11.0", "_MTLCopyAllDevices")];
    for (identifier, version, opens) in systems {
        let program = fs::read(place.out().join("digits").join(identifier).join("digits.pte")).unwrap();
        assert!(program.windows(18).any(|bytes| bytes == b"kernel void main_("), "{identifier}");
        let (library, linked) = (package.join("digits.xcframework").join(identifier), place.path().join(identifier));
        link(&library.join("libdigits.a"), version, &linked);
        check_functions(
            &fs::read(linked).unwrap(),
            &called,
            &[opens, "_objc_", "_object_", "_class_", "_sel_", "_CCRandomGenerateBytes"],
        );
    }
}

#[test]
fn a_recipe_without_a_library_is_refused_for_apple() {
    let place = Place::cold();
    let ran = place.run("build recipes/digits.yaml --set library=false --target ios-arm64").expect(4);
    assert!(ran.stderr.contains("`ios-arm64` has a library alone, and the recipe has none"), "{}", ran.stderr);
}

/// Every object of an archive is for the platform, on 64-bit Arm.
fn check_objects(archive: &[u8], platform: Platform) {
    let members = ArchiveFile::parse(archive).unwrap();
    let mut count = 0;
    for member in members.members() {
        let bytes = member.unwrap().data(archive).unwrap();
        let header = MachHeader64::<Endianness>::parse(bytes, 0).unwrap();
        let endian = header.endian().unwrap();
        assert_eq!(header.cputype(endian), CPU_TYPE_ARM64);
        let mut commands = header.load_commands(endian, bytes, 0).unwrap();
        let mut platforms = Vec::new();
        while let Some(command) = commands.next().unwrap() {
            let built = command.build_version(endian).unwrap().map(|(version, _)| version.platform.get(endian));
            // The command of versions of iOS before 12.
            platforms.extend(built.or((command.cmd() == LC_VERSION_MIN_IPHONEOS).then_some(PLATFORM_IOS)));
        }
        assert_eq!(platforms, [platform]);
        count += 1;
    }
    assert!(count > 10, "{count}");
}

/// Links all that the functions of a library need as LLVM's linker for Apple does, without the libraries of an SDK.
fn link(library: &Path, version: &str, linked: &Path) {
    let sysroot = Ran::of(Command::new("rustc").args(["--print", "sysroot"])).expect(0).stdout;
    let host = format!("lib/rustlib/{}-unknown-linux-gnu/bin/rust-lld", std::env::consts::ARCH);
    let mut linker = Command::new(Path::new(sysroot.trim()).join(host));
    linker.args("-flavor darwin -arch arm64 -dylib -dead_strip -fatal_warnings -undefined dynamic_lookup".split(' '));
    linker.arg("-platform_version").args(version.split(' ')).args(["-exported_symbol", "_et_*"]);
    Ran::of(linker.arg("-force_load").arg(library).arg("-o").arg(linked)).expect(0);
}

/// The functions of the library that the Swift sources of a folder call.
fn called(sources: &Path) -> BTreeSet<String> {
    let texts = fs::read_dir(sources).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    let texts: Vec<String> = texts.collect();
    let words = texts.iter().flat_map(|text| text.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_'));
    words.filter(|word| word.starts_with("et_") && *word != "et_tensor").map(str::to_owned).collect()
}

/// A linked library has the functions, and takes what Apple's C library, threads, queues and unwinder have.
/// `frameworks` are the beginnings of what frameworks have.
fn check_functions(linked: &[u8], called: &BTreeSet<String>, frameworks: &[&str]) {
    let file = MachOFile64::<Endianness>::parse(linked).unwrap();
    let (undefined, defined): (Vec<_>, Vec<_>) = file.symbols().partition(ObjectSymbol::is_undefined);
    let exported = defined.iter().filter(|symbol| symbol.is_global());
    let exported: BTreeSet<String> = exported.map(|symbol| symbol.name().unwrap()[1..].to_owned()).collect();
    assert!(called.len() > 8 && called.is_subset(&exported), "{called:?}: {exported:?}");
    let known = ["__Unwind_", "__dyld_", "__tlv_", "_dispatch_", "_pthread_", "_mem", "___error"];
    let plain = "abort bzero calloc close closedir dirfd exp expf free fstat getcwd getenv log logf lseek madvise malloc mmap mprotect \
                 munmap open opendir pause posix_memalign read readdir_r realloc rename sched_yield sigaltstack stat strerror_r strlen \
                 sysconf sysctlbyname unlink write writev";
    let plain: BTreeSet<&str> = plain.split_whitespace().collect();
    let mut found: BTreeSet<&&str> = BTreeSet::new();
    for symbol in undefined {
        let name = symbol.name().unwrap();
        let mut starts = known.iter().chain(frameworks);
        assert!(starts.any(|start| name.starts_with(start)) || plain.contains(&name[1..]), "{name}");
        found.extend(frameworks.iter().filter(|start| name.starts_with(**start)));
    }
    assert_eq!(found.len(), frameworks.len(), "{found:?}");
}

/// The module map names the header, which compiles as C.
fn check_headers(headers: &Path, app: &Path) {
    let map = fs::read_to_string(headers.join("CEtbuild/module.modulemap")).unwrap();
    assert!(map.contains("module CEtbuild {\n    header \"etbuild.h\""), "{map}");
    fs::write(app, "#include \"CEtbuild/etbuild.h\"\n").unwrap();
    let mut compiler = Command::new("cc");
    Ran::of(compiler.args(["-std=c99", "-Wall", "-Werror", "-fsyntax-only", "-I"]).arg(headers).arg(app)).expect(0);
}

#[test]
fn an_app_in_swift_equals_pytorch_and_the_binaries() {
    let Some(compiler) = swift() else { return };
    let place = Place::cold_with_compiled_crates();
    place.run("build recipes/digits.yaml recipes/tiny-llama.yaml --set library=true --target linux-x86_64").expect(0);
    let [digits, llama] = ["digits", "tiny-llama"].map(|recipe| place.out().join(recipe).join("linux-x86_64"));
    let data = repository().join("etbuild/etbuild/tests/data/swift");
    let classify = app(&compiler, &place, &["Program"], &digits.join("libdigits.a"), &[data.join("Classify.swift")]);
    classifies(&place, &classify, &digits);
    // The part of the sample app without SwiftUI.
    let files = [data.join("Tell.swift"), repository().join("examples/apple/Storyteller.swift")];
    let tell = app(&compiler, &place, &["Language"], &llama.join("libtiny-llama.a"), &files);
    tells(&tell, &llama);
}

/// The compiler of Swift; `None` where it is missing.
pub fn swift() -> Option<String> {
    let (variable, arguments) = ("ETBUILD_TEST_SWIFTC", ["--version"]);
    let compiler = compiler(variable, "swiftc");
    has_required(&compiler, &arguments, std::env::var_os(variable).is_some()).then_some(compiler)
}

/// Compiles the Swift module of these folders of sources, and an app with the module and the library.
pub fn app(compiler: &str, place: &Place, api: &[&str], library: &Path, sources: &[PathBuf]) -> PathBuf {
    let folder = place.path().join(api.concat());
    let templates = repository().join("templates/swift");
    let header = repository().join("runtime/et-c/src/etbuild.h");
    let headers = folder.join("CEtbuild");
    fs::create_dir_all(&headers).unwrap();
    for file in [header, templates.join("module.modulemap")] {
        fs::copy(&file, headers.join(file.file_name().unwrap())).unwrap();
    }
    let module = ["Common"].iter().chain(api).flat_map(|part| fs::read_dir(templates.join(part)).unwrap());
    let module: Vec<PathBuf> = module.map(|entry| entry.unwrap().path()).collect();
    let command = |options: &str, files: &[PathBuf]| {
        let mut command = Command::new(compiler);
        command.current_dir(&folder).args("-parse-as-library -warnings-as-errors -I . -L .".split(' '));
        command.args(options.split_whitespace()).args(files);
        command
    };
    // The package is in the language mode of Swift 5; apps may be in that of Swift 6.
    let options = "-emit-module -emit-library -static -module-name Etbuild -o libEtbuild.a -swift-version";
    for version in ["5", "6"] {
        Ran::of(&mut command(&format!("{options} {version}"), &module)).expect(0);
    }
    let mut linked = command("-swift-version 6 -o app -lEtbuild", sources);
    // Not an input of the compiler, which would read the LLVM bitcode that Rust's standard library carries.
    Ran::of(linked.arg("-Xlinker").arg(library).args(["-lm", "-lpthread", "-ldl"])).expect(0);
    folder.join("app")
}

fn classifies(place: &Place, app: &Path, digits: &Path) {
    let test = repository().join("examples/digits/test.safetensors");
    let bytes = fs::read(&test).unwrap();
    let images = place.file("images", &SafeTensors::parse(&bytes).unwrap().tensors["x"].bytes[..CASES * 4 * 64]);
    let program = fs::read(digits.join("digits.pte")).unwrap();
    let damaged = place.file("damaged.pte", &program[..program.len() / 2]);
    let ran = Ran::of(Command::new(app).arg(digits.join("digits.pte")).arg(images).arg(damaged)).expect(0);
    let mut lines = ran.stdout.lines();
    let wanted = tensors::predictions(&test).into_iter().take(CASES).map(|digit| digit.to_string());
    assert_eq!(lines.by_ref().take(CASES).collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
    let problems = [
        "/nothing/\u{1f600}.pte: No such file or directory",
        "the program file is malformed",
        "no method backward",
        "a number of threads is from 1 to 256, not 1000",
        "a number of threads is from 1 to 256",
        "a text contains a zero character",
        "the program file is malformed",
        "input x: int64[1, 1, 8, 8] was given",
        "input x: float32[1, 1, 8, 9] was given",
        "the method has 1 inputs, and 0 are given",
        "a tensor [2, 2] does not have 3 elements",
        "a tensor [9223372036854775807, 4] does not have 0 elements",
        "the elements are of float32, and not of int32",
    ];
    compare(&lines.collect::<Vec<_>>(), &problems);
}

fn tells(app: &Path, llama: &Path) {
    let told = Ran::of(Command::new(app).arg(llama.join("tiny-llama.pte")).args([PROMPT, QUESTION])).expect(0).json();
    let said = |arguments: &[&str]| {
        let mut binary = Command::new(llama.join("tiny-llama"));
        let text = Ran::of(binary.args(arguments).args(["--max-new-tokens", "24"])).expect(0).stdout;
        text.trim_end_matches('\n').to_owned()
    };
    let text = said(&["--prompt", PROMPT]);
    assert!(told["text"] == *text && told["waiting"] == *text, "{told}: {text}");
    assert_eq!(told["story"], format!("{PROMPT}{text}"));
    assert_eq!(told["answer"], said(&["--chat", "--prompt", QUESTION]));
    // A cancelled reader still gets the pieces that waited for it.
    assert!(told["cancelled"].as_u64().unwrap() < 100 && told["left"] == 3 && told["context"] == 512, "{told}");
    let problems: Vec<&str> = told["problems"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let wanted = [
        "4002 tokens are more than the context of 512",
        "top_p is 7, but must be from 0 to 1",
        "a number is negative",
        "`json_schema`, `regex` and `grammar` do not go together",
        "a text contains a zero character",
        "the language model is generating",
    ];
    compare(&problems, &wanted);
}

#[track_caller]
fn compare(found: &[&str], wanted: &[&str]) {
    assert_eq!(found.len(), wanted.len(), "{found:#?}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(found.starts_with(&format!("EtbuildError: {wanted}")), "{found}: {wanted} is wanted");
    }
}
