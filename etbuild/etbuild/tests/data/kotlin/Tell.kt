// Tells a story with a language model, beside a program of another library: LIBRARY PROGRAM PROMPT QUESTION LIBRARY PROGRAM. Prints a JSON
// object of what the calls gave.
import etbuild.Ended
import etbuild.LanguageModel
import etbuild.Message
import etbuild.Module
import etbuild.Part
import etbuild.Role
import etbuild.Tensor
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

fun main(arguments: Array<String>) = runBlocking {
    val (library, program, prompt, question) = arguments
    val digits = Module.load(arguments[4], arguments[5])
    val image = Tensor.of(FloatArray(64) { it / 64f }, 1, 1, 8, 8)
    val scores = digits.execute(image).single().bytes()
    val model = LanguageModel.load(library, program, threads = 1, lookup = true)
    val options = model.options { maxNewTokens = 24 }
    val told = model.complete(prompt, options).toList()
    val seen = ArrayList<Pair<Int, String>>()
    val ended = model.complete(listOf(Part.text(prompt)), options) { token, text -> seen.add(token to text) }
    val tokens = seen.map { it.first }.filter { it >= 0 }
    check(seen.joinToString("") { it.second } == told.joinToString("")) { seen }
    check(ended == Ended.ENOUGH || ended == Ended.STOPPED) { ended }
    check(model.complete(prompt, options).take(3).toList() == told.take(3))
    val again = model.completeTokens(intArrayOf(1) + tokens.take(4), model.options { maxNewTokens = 3 }).toList()
    check(again.size == 3) { again }

    val conversation = listOf(Message(Role.USER, question))
    val answer = model.answer(conversation, options).toList().joinToString("")
    val whole = StringBuilder()
    model.answer(conversation, options) { _, text -> whole.append(text).length >= 0 }
    check(whole.toString() == answer) { whole }
    println(
        "{\"text\": ${json(told.joinToString(""))}, \"answer\": ${json(answer)}, \"context\": ${model.context}, " +
            "\"cancelled\": ${cancelled(model, prompt)}, \"problems\": [${problems(model, prompt).joinToString { json(it) }}]}",
    )
    model.close()
    check(digits.execute(image).single().bytes().contentEquals(scores))
    digits.close()
}

/** How many pieces came before the collector was cancelled, of an answer that would be much longer; the model works afterwards. */
suspend fun cancelled(model: LanguageModel, prompt: String): Int {
    val (started, pieces) = CompletableDeferred<Unit>() to ArrayList<String>()
    runBlocking {
        val job = launch(Dispatchers.Default) {
            model.complete(prompt, model.options { maxNewTokens = 400; temperature = 1.5f }).collect {
                pieces.add(it)
                started.complete(Unit)
                kotlinx.coroutines.delay(1)
            }
        }
        started.await()
        job.cancelAndJoin()
    }
    return pieces.size
}

suspend fun problems(model: LanguageModel, prompt: String): List<String> {
    val thrown = runCatching { model.complete(listOf(Part.text(prompt)), model.options()) { _, _ -> error("enough of it") } }
    val calls = listOf<suspend () -> Any?>(
        { model.complete("word ".repeat(2000)).toList() },
        { model.complete(prompt, model.options { topP = 7f }).toList() },
        { model.complete(prompt, model.options { topK = -1 }).toList() },
        { model.complete(prompt, model.options { regex = "["; jsonSchema = "{}" }).toList() },
        { model.answer(listOf(Message(Role.USER, Part.picture(byteArrayOf(1, 2, 3))))).toList() },
        { model.complete("a\u0000b").toList() },
        { model.transcribe(Part.samples(FloatArray(10), 16000)).toList() },
    )
    val problems = calls.map { call -> runCatching { call() }.exceptionOrNull() } + thrown.exceptionOrNull()
    return problems.map { "${it?.javaClass?.simpleName}: ${it?.message}" }
}

fun json(text: String): String = buildString {
    append('"')
    for (letter in text) if (letter.code < 32 || letter in "\"\\") append("\\u%04x".format(letter.code)) else append(letter)
    append('"')
}
