//! Binaries and libraries for Android's own C library, linked without Android's NDK.

mod tiny;

use etbuild_link::*;
use etbuild_system::{RealSystem, Slots};
use object::read::elf::{Dyn, ElfFile64, ProgramHeader};
use object::{Endianness, Object, ObjectKind, ObjectSection, ObjectSymbol, elf};

const TRIPLES: [&str; 2] = ["aarch64-linux-android", "x86_64-linux-android"];

fn facts(target: &CompileTarget) -> ProjectFacts {
    let program = Program::Beside("tiny.pte".to_owned());
    ProjectFacts {
        system: SystemFiles::of(target),
        library: Some(LibraryForm::StaticAndShared),
        ..tiny::hosted(program)
    }
}

fn built(target: &CompileTarget, project: &Project) -> Result<Built, LinkError> {
    built_telling(target, project).map(|(built, _)| built)
}

/// The results of a build, with the names of the packages that it compiled.
fn built_telling(target: &CompileTarget, project: &Project) -> Result<(Built, Vec<String>), LinkError> {
    let system = RealSystem::default();
    let toolchain = toolchain::find(&system, target, true).unwrap();
    let workshop = Workshop { folder: tiny::scratch(), offline: false, slots: &Slots::new(1) };
    let mut compiled = Vec::new();
    let mut tell = |package: Option<Compiled>| {
        compiled.extend(package.filter(|package| !package.is_fresh).map(|package| package.package))
    };
    let built = build_telling(&system, &toolchain, target, project, &workshop, &mut tell)?;
    Ok((built, compiled))
}

/// The facts of a linked file that Android's loader looks at.
struct Linked<'a> {
    file: ElfFile64<'a, Endianness>,
    bytes: &'a [u8],
}

impl<'a> Linked<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { file: ElfFile64::parse(bytes).unwrap(), bytes }
    }

    fn headers(&self) -> &[elf::ProgramHeader64<Endianness>] {
        self.file.elf_program_headers()
    }

    fn has(&self, kind: elf::ProgramType) -> bool {
        self.headers().iter().any(|header| header.p_type(Endianness::Little) == kind)
    }

    /// The names in entries of the dynamic section with this tag.
    fn names(&self, tag: elf::DynamicTag) -> Vec<String> {
        let section = self.file.section_by_name(".dynstr").unwrap().data().unwrap();
        let dynamic =
            self.headers().iter().find_map(|header| header.dynamic(Endianness::Little, self.bytes).unwrap()).unwrap();
        let entries = dynamic.iter().filter(|entry| entry.d_tag(Endianness::Little) == tag);
        entries.map(|entry| text(&section[entry.d_val(Endianness::Little) as usize..])).collect()
    }

    fn interpreter(&self) -> Option<String> {
        let header = self.headers().iter().find(|header| header.p_type(Endianness::Little) == elf::PT_INTERP)?;
        Some(text(header.data(Endianness::Little, self.bytes).unwrap()))
    }

    /// Checks what Android asks of executables and of libraries.
    fn check(&self) {
        assert_eq!(self.file.kind(), ObjectKind::Dynamic, "position-independent");
        let loaded: Vec<u64> = self
            .headers()
            .iter()
            .filter(|header| header.p_type(Endianness::Little) == elf::PT_LOAD)
            .map(|header| header.p_align(Endianness::Little))
            .collect();
        assert!(loaded.iter().all(|alignment| *alignment == 16_384), "{loaded:?}");
        assert!(self.has(elf::PT_GNU_RELRO) && !self.has(elf::PT_TLS));
        let needed = self.names(elf::DT_NEEDED);
        assert!(needed.iter().all(|name| ["libc.so", "libdl.so", "libm.so"].contains(&name.as_str())), "{needed:?}");
        assert!(needed.contains(&"libc.so".to_owned()));
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.iter().copied().take_while(|byte| *byte != 0).collect()).unwrap()
}

#[test]
fn a_binary_and_a_shared_library_are_what_the_loader_of_android_asks_for() {
    for triple in TRIPLES {
        let target = tiny::process(triple, Linker::RustLld);
        let built = built(&target, &tiny::project(&facts(&target))).unwrap();
        let binary = Linked::new(built.binary.as_ref().unwrap());
        binary.check();
        assert_eq!(binary.interpreter().as_deref(), Some("/system/bin/linker64"));
        assert!(binary.file.section_by_name(".note.android.ident").is_some());
        let bytes = built.shared.unwrap();
        let shared = Linked::new(&bytes);
        shared.check();
        assert_eq!((shared.interpreter(), shared.names(elf::DT_SONAME)), (None, vec!["libtiny.so".to_owned()]));
        let exported: Vec<&str> = shared
            .file
            .dynamic_symbols()
            .filter(|symbol| symbol.is_definition())
            .map(|symbol| symbol.name().unwrap())
            .collect();
        for name in [
            "et_error_message",
            "et_module_load",
            "et_module_execute",
            "et_module_output",
            "JNI_OnLoad",
            "Java_etbuild_Native_moduleLoad",
        ] {
            assert!(exported.contains(&name), "{exported:?}");
        }
        assert!(
            exported
                .iter()
                .all(|name| ["et_", "Java_etbuild_Native_", "JNI_OnLoad"].iter().any(|start| name.starts_with(start))),
            "{exported:?}"
        );
        assert!(built.library.is_some());
    }
}

#[test]
fn libraries_of_all_names_and_binaries_without_one_share_compiled_crates() {
    let target = tiny::process(TRIPLES[1], Linker::RustLld);
    let named = |name: &str| tiny::project(&ProjectFacts { name: name.to_owned(), ..facts(&target) });
    let without = ProjectFacts { library: None, ..facts(&target) };
    built(&target, &named("one")).unwrap();
    built(&target, &tiny::project(&without)).unwrap();
    let (other, compiled) = built_telling(&target, &named("two")).unwrap();
    assert_eq!(Linked::new(&other.shared.unwrap()).names(elf::DT_SONAME), ["libtwo.so"]);
    assert_eq!(compiled, ["device-library", "device-binary"]);
}

#[test]
fn two_builds_have_the_same_bytes() {
    let target = tiny::process(TRIPLES[0], Linker::RustLld);
    tiny::build_twice(&facts(&target), &target);
}

#[test]
fn a_function_of_a_later_android_is_an_error_at_the_desk() {
    let target = tiny::process(TRIPLES[0], Linker::RustLld);
    let mut project = tiny::project(&facts(&target));
    let main = project.package.get_mut("src/main.rs").unwrap();
    let text = String::from_utf8(main.clone()).unwrap();
    let call = "unsafe extern \"C\" { fn getrandom(to: *mut u8, size: usize, flags: u32) -> isize; }\n\
                fn main() -> ExitCode {\n    unsafe { getrandom(std::ptr::null_mut(), 0, 0) };\n";
    *main = text.replace("fn main() -> ExitCode {\n", call).into_bytes();
    let error = built(&target, &project).unwrap_err();
    assert_eq!(error.to_string(), "Android's C library of API level 26 has no `getrandom`");
}
