//! The compiler's facts of a target: plain values, independent of target files.

/// The API level of Android that binaries are linked for without an NDK: Android 8.0, 2017.
pub const API_LEVEL: u32 = 26;

/// The starts of triples, and Android's names of the processors.
const ABIS: [(&str, &str); 4] =
    [("aarch64-", "arm64-v8a"), ("x86_64-", "x86_64"), ("armv7-", "armeabi-v7a"), ("i686-", "x86")];

/// How Rust compiles for a target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompileTarget {
    /// The target triple, as `rustup target list` names it.
    pub triple: String,
    /// The processor (`-C target-cpu`); the triple's own for `None`.
    pub cpu: Option<String>,
    /// Processor features to switch on (`+name`) or off (`-name`).
    pub features: Vec<String>,
    /// The linker.
    pub linker: Linker,
    /// Whether the C library is linked in.
    pub crt_static: bool,
}

/// A linker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Linker {
    /// The C compiler of the machine, `cc`.
    System,
    /// Another C compiler, by its name on `PATH`.
    Compiler(String),
    /// The linker inside the Rust toolchain.
    RustLld,
    /// None: a static library alone is made.
    None,
}

impl Linker {
    /// The C compiler that links, if one does.
    pub fn compiler(&self) -> Option<&str> {
        match self {
            Self::System => Some("cc"),
            Self::Compiler(name) => Some(name),
            Self::RustLld | Self::None => None,
        }
    }
}

impl CompileTarget {
    /// Whether the target is Android with Android's own C library.
    pub fn is_android(&self) -> bool {
        self.triple.split('-').any(|part| part == "android")
    }

    /// Whether the target is Linux with a C library of Linux.
    pub fn is_linux(&self) -> bool {
        self.triple.split('-').any(|part| part == "linux") && !self.is_android()
    }

    /// Whether the target is Linux, with a C library that loads shared libraries.
    pub fn is_linux_with_loader(&self) -> bool {
        self.is_linux()
            && !self.crt_static
            && self.triple.rsplit('-').next().is_some_and(|part| part.starts_with("gnu"))
    }

    /// The name that Android has for the processor, of a target of Android.
    pub fn android_abi(&self) -> Option<&'static str> {
        let (_, abi) = ABIS.into_iter().find(|(start, _)| self.triple.starts_with(start))?;
        self.is_android().then_some(abi)
    }

    /// Whether the target is Windows.
    pub fn is_windows(&self) -> bool {
        self.triple.split('-').any(|part| part == "windows")
    }

    /// Whether the target is a system of Apple.
    pub fn is_apple(&self) -> bool {
        self.triple.split('-').any(|part| part == "apple")
    }

    /// Whether the linker makes a binary.
    pub fn has_binary(&self) -> bool {
        self.linker != Linker::None
    }

    /// Whether the target is WebAssembly.
    pub fn is_wasm(&self) -> bool {
        self.triple.starts_with("wasm")
    }

    /// Whether the target is WebAssembly with threads, whose memory is shared and imported.
    pub fn is_wasm_with_threads(&self) -> bool {
        self.is_wasm() && self.triple.ends_with("-threads")
    }

    /// Whether the target has no operating system.
    pub fn is_bare_metal(&self) -> bool {
        self.triple.split('-').any(|part| part == "none")
    }
}
