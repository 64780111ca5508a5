package etbuild

import java.nio.ByteBuffer
import java.util.concurrent.ConcurrentHashMap

/** The native methods, which the libraries of models implement, and the libraries of this process. */
internal object Native {
    /** The version of the native methods. */
    private const val VERSION = 4

    /** The tables of functions by the names of their libraries. */
    private val libraries = ConcurrentHashMap<String, Long>()

    /** The functions of a library, which is loaded where the process does not have it yet. */
    fun library(name: String): Long {
        if (!libraries.containsKey(name)) System.loadLibrary(name)
        return libraries[name] ?: throw EtbuildException("the library `$name` was not made by etbuild, or for another class loader")
    }

    /** A library tells its functions when it is loaded, in a thread that may hold the lock of the class loader. */
    @JvmStatic
    fun loaded(name: String, version: Int, functions: Long) {
        if (version != VERSION) {
            throw EtbuildException("the library `$name` has another native interface than the classes of the app")
        }
        libraries[name] = functions
    }

    /** A native method fails. */
    @JvmStatic
    fun fail(message: String): Unit = throw EtbuildException(message)

    @JvmStatic external fun moduleLoad(library: Long, program: String, data: Array<String>, method: String?, threads: Int): Long
    @JvmStatic external fun moduleLoadBytes(library: Long, program: ByteBuffer, data: Array<String>, method: String?, threads: Int): Long
    @JvmStatic external fun moduleFree(library: Long, module: Long)
    @JvmStatic external fun moduleInputs(library: Long, module: Long): Int
    @JvmStatic external fun moduleInputName(library: Long, module: Long, index: Int): String
    @JvmStatic external fun moduleSetInput(library: Long, module: Long, index: Int, type: Int, shape: LongArray, elements: ByteBuffer)
    @JvmStatic external fun moduleExecute(library: Long, module: Long): Int
    @JvmStatic external fun moduleOutputType(library: Long, module: Long, index: Int): Int
    @JvmStatic external fun moduleOutputShape(library: Long, module: Long, index: Int): LongArray
    @JvmStatic external fun moduleOutput(library: Long, module: Long, index: Int): ByteBuffer

    @JvmStatic external fun languageLoad(library: Long, program: String, data: Array<String>, threads: Int, lookup: Boolean): Long
    @JvmStatic external fun languageLoadBytes(library: Long, program: ByteBuffer, data: Array<String>, threads: Int, lookup: Boolean): Long
    @JvmStatic external fun languageFree(library: Long, language: Long)
    @JvmStatic external fun languageOptions(library: Long, language: Long, to: Options)
    @JvmStatic external fun languageContext(library: Long, language: Long): Long
    @JvmStatic external fun languageContinue(library: Long, language: Long, parts: Array<Part>, options: Options, see: Any, apart: Boolean): Int
    @JvmStatic external fun languageContinueTokens(library: Long, language: Long, tokens: IntArray, options: Options, see: TokenListener): Int
    @JvmStatic external fun languageAnswer(library: Long, language: Long, messages: Array<Message>, options: Options, see: Any, apart: Boolean): Int
    @JvmStatic external fun languageEncode(library: Long, language: Long, text: String, begins: Boolean): IntArray
    @JvmStatic external fun languageEncodeMessages(library: Long, language: Long, messages: Array<Message>, options: Options): IntArray
    @JvmStatic external fun languageDecode(library: Long, language: Long, tokens: IntArray): String
    @JvmStatic external fun languageUseAdapter(library: Long, language: Long, path: String)
    @JvmStatic external fun languageSave(library: Long, language: Long, path: String)
    @JvmStatic external fun languageRestore(library: Long, language: Long, path: String)
    @JvmStatic external fun languageTranscribe(library: Long, language: Long, sound: Part, speech: Speech, options: Options, see: Heard): String
}
