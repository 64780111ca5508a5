package etbuild

import java.nio.ByteBuffer
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.channelFlow
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.isActive

/** Sees the tokens of an answer as they come. */
public fun interface TokenListener {
    /**
     * Sees a token and the text that the token makes certain, which may be empty; text that is left at the end comes with the token -1.
     * Between the chunks of a long prompt the listener is asked whether to go on, with the token -1 and no text. False ends the answer.
     */
    public fun see(token: Int, text: String): Boolean
}

/** Why an answer ended. */
public enum class Ended {
    /** The model ended the answer, the answer has a stop text, or it is complete by its form. */
    STOPPED,

    /** The answer has as many tokens as were asked for. */
    ENOUGH,

    /** The text has as many tokens as the program can. */
    CONTEXT_FULL,

    /** The listener wanted no more, or the model is being closed. */
    BROKEN_OFF,
}

/**
 * A language model, and the text that it has read: what a text has in common with the one before it is not read again.
 *
 * The functions that return a `Flow` compute on `Dispatchers.IO` while the flow is collected; cancellation of the collecting coroutine
 * ends the computation at the next token, or behind the next chunk of the prompt. The functions with a listener compute on the calling thread. A model may be used by any thread;
 * calls come one after the other.
 */
public class LanguageModel private constructor(library: Long, model: Long) : AutoCloseable {
    private val handle = Handle(library, model, Native::languageFree)

    /** The most tokens of a text; 0 where nobody knows. */
    public val context: Long = Native.languageContext(library, model)

    /** The options that the model's makers state, which are asked for once: the model may be busy later. */
    private val stated = Options().also { Native.languageOptions(library, model, it) }

    /** The options that the model's makers state, with the changes of `change`. */
    @JvmOverloads
    public fun options(change: Options.() -> Unit = {}): Options = stated.copy().apply(change)

    /** Continues a text: the pieces of the continuation as they come. */
    public fun complete(prompt: String, options: Options = options()): Flow<String> = complete(listOf(Part.text(prompt)), options)

    /** Continues a prompt of texts, pictures and sounds, in their order. */
    public fun complete(prompt: List<Part>, options: Options = options()): Flow<String> =
        stream { show -> complete(prompt, options) { _, text -> show(text.ifEmpty { null }) } }

    /** Answers in a conversation: the pieces of the answer as they come. */
    public fun answer(conversation: List<Message>, options: Options = options()): Flow<String> =
        stream { show -> answer(conversation, options) { _, text -> show(text.ifEmpty { null }) } }

    /** Answers in a conversation: text, thoughts and calls of tools as they come. [Message.of] makes a message of all pieces. */
    public fun pieces(conversation: List<Message>, options: Options = options()): Flow<Piece> =
        stream { show -> pieces(conversation, options, show) { show(it) } }

    /** Continues a prompt: text, and with [Options.topLogprobs] how probable each token is, as they come. */
    public fun completePieces(prompt: List<Part>, options: Options = options()): Flow<Piece> =
        stream { show -> completePieces(prompt, options, show) { show(it) } }

    /** Continues a text of tokens: the tokens of the continuation as they come. */
    public fun completeTokens(tokens: IntArray, options: Options = options()): Flow<Int> =
        stream { show -> completeTokens(tokens, options) { token, _ -> show(token.takeIf { it != NO_TOKEN }) } }

    /** Makes the transcript of a recording: the segments as they are found. */
    public fun transcribe(sound: Part, speech: Speech = Speech(), options: Options = options()): Flow<Segment> =
        stream { show -> transcribe(sound, speech, options, show) }

    /** Continues a prompt of texts, pictures and sounds on this thread. */
    public fun complete(prompt: List<Part>, options: Options, listener: TokenListener): Ended =
        reply(listener) { library, model, see -> Native.languageContinue(library, model, prompt.toTypedArray(), options, see, false) }

    /** Continues a text of tokens on this thread. */
    public fun completeTokens(tokens: IntArray, options: Options, listener: TokenListener): Ended =
        reply(listener) { library, model, see -> Native.languageContinueTokens(library, model, tokens, options, see) }

    /** Answers in a conversation on this thread. */
    public fun answer(conversation: List<Message>, options: Options, listener: TokenListener): Ended =
        reply(listener) { library, model, see -> Native.languageAnswer(library, model, conversation.toTypedArray(), options, see, false) }

    /** Continues a prompt on this thread: text and probabilities. */
    public fun completePieces(prompt: List<Part>, options: Options, listener: PieceListener): Ended =
        completePieces(prompt, options, { true }, listener)

    /** Answers in a conversation on this thread: text, thoughts and calls of tools. */
    public fun pieces(conversation: List<Message>, options: Options, listener: PieceListener): Ended =
        pieces(conversation, options, { true }, listener)

    private fun pieces(conversation: List<Message>, options: Options, isWanted: (Piece?) -> Boolean, listener: PieceListener): Ended =
        handle.use { library, model ->
            Ended.entries[Native.languageAnswer(library, model, conversation.toTypedArray(), options, teller(isWanted, listener), true)]
        }

    private fun completePieces(prompt: List<Part>, options: Options, isWanted: (Piece?) -> Boolean, listener: PieceListener): Ended =
        handle.use { library, model ->
            Ended.entries[Native.languageContinue(library, model, prompt.toTypedArray(), options, teller(isWanted, listener), true)]
        }

    private fun teller(isWanted: (Piece?) -> Boolean, listener: PieceListener) =
        PieceTeller({ !handle.isClosing && isWanted(null) }, listener)

    /** The tokens of a text; with [begins] those that begin every text, too. */
    @JvmOverloads
    public fun encode(text: String, begins: Boolean = true): IntArray =
        handle.use { library, model -> Native.languageEncode(library, model, text, begins) }

    /** The tokens of a conversation, up to the start of the answer: what it takes of the [context]. */
    @JvmOverloads
    public fun encode(conversation: List<Message>, options: Options = options()): IntArray =
        handle.use { library, model -> Native.languageEncodeMessages(library, model, conversation.toTypedArray(), options) }

    /** The text of tokens, without special tokens. */
    public fun decode(tokens: IntArray): String = handle.use { library, model -> Native.languageDecode(library, model, tokens) }

    /**
     * Puts an adapter in the place of the one before: a file `<name>.adapter.ptd` over the same layers with the same ranks as that of the program.
     * Nothing is loaded again, and the next text is read from its beginning.
     */
    public fun useAdapter(path: String): Unit = handle.use { library, model -> Native.languageUseAdapter(library, model, path) }

    /**
     * Writes the text that the model has read, with its KV cache, to a file: another process goes on with [restore], and so does a binary with
     * `--session`. Messages are the app's own to keep; pictures, sounds and what follows them are left out.
     */
    public fun save(path: String): Unit = handle.use { library, model -> Native.languageSave(library, model, path) }

    /**
     * Goes on behind the text in a file of [save]: the next text or conversation that begins alike reads the rest alone. A file of another model, of
     * other weights, or of another adapter than the one in use is refused.
     */
    public fun restore(path: String): Unit = handle.use { library, model -> Native.languageRestore(library, model, path) }

    /** Makes the transcript of a recording on this thread; returns the code of its language, which is empty for a model of one language. */
    public fun transcribe(sound: Part, speech: Speech, options: Options, see: (Segment) -> Boolean): String =
        handle.use { library, model ->
            Native.languageTranscribe(library, model, sound, speech, options, Heard { !handle.isClosing && see(it) })
        }

    /** Ends an answer at its next token or behind the next chunk of its prompt, and gives the memory of the model back. */
    override fun close(): Unit = handle.close()

    /**
     * The elements that `work` shows while the flow is collected; to show says whether somebody collects, and null asks that alone. Elements
     * wait for a slow collector in memory, since a thread that waited for the collector could be the one that the collector waits for.
     */
    private fun <T : Any> stream(work: ((T?) -> Boolean) -> Unit): Flow<T> =
        channelFlow<T> { work { if (it == null) isActive else trySend(it).isSuccess } }.buffer(Channel.UNLIMITED).flowOn(Dispatchers.IO)

    private fun reply(listener: TokenListener, native: (Long, Long, TokenListener) -> Int): Ended = handle.use { library, model ->
        Ended.entries[native(library, model) { token, text -> !handle.isClosing && listener.see(token, text) }]
    }

    public companion object {
        private const val NO_TOKEN = -1

        /**
         * Loads a language model from its program file, which is mapped.
         *
         * @param library the name of the recipe: `lib<name>.so` is loaded
         * @param program the path of the program file
         * @param data the paths of the files with weights, for a program file that keeps weights outside itself
         * @param threads the most threads that backends use; 0 for one per physical core
         * @param lookup whether tokens are guessed from the text before, which changes no answer; for programs with a method `verify`
         */
        @JvmStatic
        @JvmOverloads
        public fun load(
            library: String, program: String, data: List<String> = emptyList(), threads: Int = 0, lookup: Boolean = false,
        ): LanguageModel {
            val functions = Native.library(library)
            return LanguageModel(functions, Native.languageLoad(functions, program, data.toTypedArray(), threads, lookup))
        }

        /** Loads a language model from a program file in a buffer, from its position to its limit. The bytes are copied. */
        @JvmStatic
        @JvmOverloads
        public fun load(
            library: String, program: ByteBuffer, data: List<String> = emptyList(), threads: Int = 0, lookup: Boolean = false,
        ): LanguageModel {
            val functions = Native.library(library)
            return LanguageModel(functions, Native.languageLoadBytes(functions, direct(program), data.toTypedArray(), threads, lookup))
        }
    }
}
