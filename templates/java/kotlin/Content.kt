package etbuild

import java.nio.ByteBuffer
import java.nio.ByteOrder

/**
 * A call of a tool.
 *
 * @property id by which a message with the result names the call
 * @property name the name of the tool
 * @property arguments a JSON object
 */
public class Call(public val id: String, public val name: String, public val arguments: String)

/** A part of a prompt or of a message: a text, a picture, a sound, or in a message a call of a tool. */
public class Part private constructor(
    private val kind: Int,
    private val text: String?,
    private val data: ByteBuffer?,
    private val elementSize: Int = 1,
    private val width: Int = 0,
    private val height: Int = 0,
    private val rate: Int = 0,
    private val call: Call? = null,
) {
    public companion object {
        /** A text. */
        @JvmStatic
        public fun text(text: String): Part = Part(0, text, null)

        /** A picture: the bytes of a PNG or JPEG file. */
        @JvmStatic
        public fun picture(file: ByteArray): Part = Part(1, null, direct(ByteBuffer.wrap(file)))

        /** A picture: pixels row by row from the top, with a byte each of red, green and blue. A direct buffer is not copied. */
        @JvmStatic
        public fun pixels(pixels: ByteBuffer, width: Int, height: Int): Part {
            require(pixels.remaining() == 3 * width * height) { "a picture of $width x $height pixels has ${3 * width * height} bytes" }
            return Part(2, null, direct(pixels), width = width, height = height)
        }

        /** A recording: the bytes of a WAV file. */
        @JvmStatic
        public fun sound(file: ByteArray): Part = Part(3, null, direct(ByteBuffer.wrap(file)))

        /** A recording: samples of one channel from -1 to 1, so many a second. */
        @JvmStatic
        public fun samples(samples: FloatArray, rate: Int): Part {
            val buffer = ByteBuffer.allocateDirect(4 * samples.size).order(ByteOrder.nativeOrder())
            buffer.asFloatBuffer().put(samples)
            return Part(4, null, buffer, elementSize = 4, rate = rate)
        }

        /** A call that a message of the assistant makes, or whose result a message of the role [Role.TOOL] has. */
        @JvmStatic
        public fun call(call: Call): Part = Part(5, null, null, call = call)
    }
}

/** What somebody says in a conversation: texts, pictures, sounds and calls of tools, in order. */
public class Message(role: Role, vararg parts: Part) {
    private val role: String = role.name.lowercase()
    private val content: Array<out Part> = parts

    /** A message that is a text. */
    public constructor(role: Role, text: String) : this(role, Part.text(text))

    public companion object {
        /** The message of the assistant that the pieces of an answer are. Templates of chats have no thoughts of earlier answers. */
        @JvmStatic
        public fun of(answer: List<Piece>): Message {
            val text = answer.filterIsInstance<Piece.Text>().joinToString("") { it.text }
            val calls = answer.filterIsInstance<Piece.Called>().map { Part.call(it.call) }
            val texts = if (text.isEmpty() && calls.isNotEmpty()) emptyList() else listOf(Part.text(text))
            return Message(Role.ASSISTANT, *(texts + calls).toTypedArray())
        }

        /** The result of a call. */
        @JvmStatic
        public fun result(call: Call, text: String): Message = Message(Role.TOOL, Part.call(call), Part.text(text))
    }
}

/** Who says a message; [TOOL] says the result of a call. */
public enum class Role { SYSTEM, USER, ASSISTANT, TOOL }
