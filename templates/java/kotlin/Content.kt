package etbuild

import java.nio.ByteBuffer
import java.nio.ByteOrder

/** A part of a prompt or of a message: a text, a picture or a sound. */
public class Part private constructor(
    private val kind: Int,
    private val text: String?,
    private val data: ByteBuffer?,
    private val elementSize: Int = 1,
    private val width: Int = 0,
    private val height: Int = 0,
    private val rate: Int = 0,
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
    }
}

/** What somebody says in a conversation: texts, pictures and sounds, in order. */
public class Message(role: Role, vararg parts: Part) {
    private val role: String = role.name.lowercase()
    private val content: Array<out Part> = parts

    /** A message that is a text. */
    public constructor(role: Role, text: String) : this(role, Part.text(text))
}

/** Who says a message. */
public enum class Role { SYSTEM, USER, ASSISTANT }
