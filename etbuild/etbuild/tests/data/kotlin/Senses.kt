// Reads pictures: look LIBRARY PROGRAM PROMPT PICTURE...; transcribes a recording: hear LIBRARY PROGRAM SOUND LANGUAGE. A picture that ends in `.ppm`
// is given as pixels, a sound that ends in `.samples` as samples of 16,000 hertz.
import etbuild.LanguageModel
import etbuild.Message
import etbuild.Part
import etbuild.Role
import etbuild.Speech
import java.io.File
import java.nio.ByteBuffer
import java.nio.ByteOrder
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking

fun main(arguments: Array<String>) = runBlocking {
    val (what, library, program) = arguments
    val rest = arguments.drop(3)
    LanguageModel.load(library, program).use { model ->
        if (what == "look") look(model, rest[0], rest.drop(1)) else hear(model, rest[0], rest[1])
    }
}

/** The answer in a conversation, which is that of a prompt of parts where the model has no template for conversations. */
suspend fun look(model: LanguageModel, prompt: String, pictures: List<String>) {
    val parts = pictures.map(::picture) + Part.text(prompt)
    val answer = model.answer(listOf(Message(Role.USER, *parts.toTypedArray())), model.options { maxNewTokens = 50 }).toList()
    println(answer.joinToString(""))
}

fun picture(path: String): Part {
    val bytes = File(path).readBytes()
    if (!path.endsWith(".ppm")) return Part.picture(bytes)
    val (width, height) = bytes.decodeToString(0, 13).split(' ').slice(1..2).map(String::toInt)
    return Part.pixels(ByteBuffer.wrap(bytes, 13, bytes.size - 13), width, height)
}

suspend fun hear(model: LanguageModel, path: String, language: String) {
    val bytes = File(path).readBytes()
    val sound = if (path.endsWith(".samples")) Part.samples(samples(bytes), 16_000) else Part.sound(bytes)
    val speech = Speech(language, timestamps = true)
    val segments = model.transcribe(sound, speech, model.options { maxNewTokens = 50 }).toList()
    segments.forEach { println("[${it.start}] ${it.text}") }
    check(segments.zipWithNext().all { (one, next) -> one.end <= next.start })
    check(model.transcribe(sound, speech, model.options { maxNewTokens = 50 }) { true } == language)
}

/** Samples of 16 bits as numbers from -1 to 1. */
fun samples(bytes: ByteArray): FloatArray {
    val shorts = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asShortBuffer()
    return FloatArray(shorts.remaining()) { shorts[it] / 32768f }
}
