//! The functions of a library.

use std::ffi::{c_char, c_int, c_void};

use et_c::answer::Answer;
use et_c::content::{self, GivenPart, Turn};
use et_c::functions::See;
use et_c::held::Language;
use et_c::language;
use et_c::module::{self, Loaded, Tensor};
use et_c::options::Options;
use et_c::speech::{SeeSegment, Speech, Transcript};
use et_c::tokens;

/// Text and number of paths of files with weights.
type Paths = *const *const c_char;

/// The functions of `etbuild.h` that a library has. All types are those of C: libraries of several versions of etbuild may be in one process,
/// as long as the Kotlin package finds its [`version`](Self::version).
#[repr(C)]
pub struct Functions {
    /// The version of this table, and of the native methods.
    pub version: i32,
    /// `et_error_message`.
    pub error_message: extern "C" fn() -> *const c_char,
    /// `et_module_load`; none in a library of a language model.
    pub module_load: Option<unsafe extern "C" fn(*const c_char, Paths, usize, *const c_char, usize) -> *mut Loaded>,
    /// `et_module_load_bytes`.
    pub module_load_bytes:
        Option<unsafe extern "C" fn(*const u8, usize, Paths, usize, *const c_char, usize) -> *mut Loaded>,
    /// `et_module_free`.
    pub module_free: unsafe extern "C" fn(*mut Loaded),
    /// `et_module_input_count`.
    pub module_input_count: unsafe extern "C" fn(*mut Loaded) -> usize,
    /// `et_module_input_name`.
    pub module_input_name: unsafe extern "C" fn(*mut Loaded, usize) -> *const c_char,
    /// `et_module_set_input`.
    pub module_set_input: unsafe extern "C" fn(*mut Loaded, usize, *const Tensor) -> c_int,
    /// `et_module_execute`.
    pub module_execute: unsafe extern "C" fn(*mut Loaded) -> c_int,
    /// `et_module_output_count`.
    pub module_output_count: unsafe extern "C" fn(*mut Loaded) -> usize,
    /// `et_module_output`.
    pub module_output: unsafe extern "C" fn(*mut Loaded, usize, *mut Tensor) -> c_int,
    /// `et_language_load`; none in a library of a program.
    pub language_load: Option<unsafe extern "C" fn(*const c_char, Paths, usize, usize, bool) -> *mut Language>,
    /// `et_language_load_bytes`.
    pub language_load_bytes: Option<unsafe extern "C" fn(*const u8, usize, Paths, usize, usize, bool) -> *mut Language>,
    /// `et_language_free`.
    pub language_free: unsafe extern "C" fn(*mut Language),
    /// `et_language_options`.
    pub language_options: unsafe extern "C" fn(*mut Language, *mut Options) -> c_int,
    /// `et_language_context`.
    pub language_context: unsafe extern "C" fn(*mut Language) -> usize,
    /// `et_language_continue_tokens`.
    pub language_continue_tokens:
        unsafe extern "C" fn(*mut Language, *const u32, usize, *const Options, See, *mut c_void, *mut Answer) -> c_int,
    /// `et_language_continue_parts`.
    pub language_continue_parts: ContinueParts,
    /// `et_language_answer_parts`.
    pub language_answer_parts: AnswerParts,
    /// `et_language_encode`.
    pub language_encode: unsafe extern "C" fn(*mut Language, *const c_char, bool, *mut u32, usize, *mut usize) -> c_int,
    /// `et_language_encode_turns`.
    pub language_encode_turns:
        unsafe extern "C" fn(*mut Language, *const Turn, usize, *const Options, *mut u32, usize, *mut usize) -> c_int,
    /// `et_language_decode`.
    pub language_decode:
        unsafe extern "C" fn(*mut Language, *const u32, usize, *mut c_char, usize, *mut usize) -> c_int,
    /// `et_language_use_adapter`.
    pub language_use_adapter: unsafe extern "C" fn(*mut Language, *const c_char) -> c_int,
    /// `et_language_save`.
    pub language_save: unsafe extern "C" fn(*mut Language, *const c_char) -> c_int,
    /// `et_language_restore`.
    pub language_restore: unsafe extern "C" fn(*mut Language, *const c_char) -> c_int,
    /// `et_language_transcribe`; none in a library of a model that does not hear.
    pub language_transcribe: Option<Transcribe>,
}

/// The type of `et_language_continue_parts`.
pub type ContinueParts = unsafe extern "C" fn(
    *mut Language,
    *const GivenPart,
    usize,
    *const Options,
    See,
    *mut c_void,
    *mut Answer,
) -> c_int;

/// The type of `et_language_answer_parts`.
pub type AnswerParts =
    unsafe extern "C" fn(*mut Language, *const Turn, usize, *const Options, See, *mut c_void, *mut Answer) -> c_int;

/// The type of `et_language_transcribe`.
pub type Transcribe = unsafe extern "C" fn(
    *mut Language,
    *const GivenPart,
    *const Speech,
    *const Options,
    SeeSegment,
    *mut c_void,
    *mut Transcript,
) -> c_int;

/// The version of the table and of the types that the functions take.
const VERSION: i32 = 4;

/// Whoever changes a size raises the version: the native methods of one library call the functions of every other library in the process.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Functions>() == 208 && size_of::<Options>() == 184 && size_of::<GivenPart>() == 48);

impl Functions {
    /// The functions that all libraries have.
    pub const COMMON: Self = Self {
        version: VERSION,
        error_message: et_c::et_error_message,
        module_load: None,
        module_load_bytes: None,
        module_free: module::et_module_free,
        module_input_count: module::et_module_input_count,
        module_input_name: module::et_module_input_name,
        module_set_input: module::et_module_set_input,
        module_execute: module::et_module_execute,
        module_output_count: module::et_module_output_count,
        module_output: module::et_module_output,
        language_load: None,
        language_load_bytes: None,
        language_free: language::et_language_free,
        language_options: language::et_language_options,
        language_context: language::et_language_context,
        language_continue_tokens: language::et_language_continue_tokens,
        language_continue_parts: content::et_language_continue_parts,
        language_answer_parts: content::et_language_answer_parts,
        language_encode: tokens::et_language_encode,
        language_encode_turns: tokens::et_language_encode_turns,
        language_decode: tokens::et_language_decode,
        language_use_adapter: language::et_language_use_adapter,
        language_save: language::et_language_save,
        language_restore: language::et_language_restore,
        language_transcribe: None,
    };
}
