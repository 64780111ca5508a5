// As chat.c, in Kotlin: LIBRARY PROGRAM TOOLS WEIGHTS ADAPTER OTHER_ADAPTER.
import etbuild.Call
import etbuild.Ended
import etbuild.LanguageModel
import etbuild.Message
import etbuild.Options
import etbuild.Piece
import etbuild.Role
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking

private const val WRITTEN =
    "Ho <tool_call>\\n\\{\"name\": \"tell\", \"arguments\": \\{\"words\": \"fox\", \"count\": 3\\}\\}\\n</tool_call>"

fun main(arguments: Array<String>) = runBlocking {
    val (library, program, tools, weights, adapter) = arguments
    val model = LanguageModel.load(library, program, data = listOf(weights, adapter), threads = 1)
    val usual: (Options.() -> Unit) -> Options = { change -> model.options { maxNewTokens = 200; temperature = 0f; change() } }
    val question = listOf(Message(Role.USER, "Tell me a tale."))
    suspend fun pieces(name: String, conversation: List<Message>, options: Options): List<Piece> {
        val pieces = model.pieces(conversation, options).toList()
        val again = ArrayList<Piece>()
        check(model.pieces(conversation, options) { again.add(it) } == Ended.STOPPED || name == "answer" || name == "thoughts")
        check(pieces.joinToString("", transform = ::shown) == again.joinToString("", transform = ::shown))
        println("$name=${pieces.joinToString("", transform = ::shown)}")
        return pieces
    }

    pieces("written", question, usual { this.tools = tools; regex = WRITTEN })
    val required = pieces("required", question, usual { this.tools = tools; toolChoice = "required"; temperature = 1f; seed = 7 })
    val results = required.filterIsInstance<Piece.Called>().map { Message.result(it.call, "a fox") }
    val conversation = question + Message.of(required) + results
    val options = usual { this.tools = tools; maxNewTokens = 20 }
    pieces("answer", conversation, options)
    println("prompt=${model.encode(conversation, options).size}")
    pieces("thoughts", question, usual { maxNewTokens = 9; templateVariables = "{\"enable_thinking\": true}" })

    val stopped = StringBuilder()
    val ended = model.complete(listOf(etbuild.Part.text("Once")), usual { stop = arrayOf("no such text", " a") }) { _, text ->
        stopped.append(text).length >= 0
    }
    println("stopped=${line(stopped.toString())}|${ended.ordinal}")
    val encoded = model.encode("Once there was", begins = false)
    println("decoded=${model.decode(encoded)}")
    val biased = usual { maxNewTokens = 3; logitBias = mapOf(encoded[0] to 100f) }
    check(biased.logitBias == mapOf(encoded[0] to 100f))
    println("biased=${line(model.complete("Once", biased).toList().joinToString(""))}")

    for ((name, file) in listOf("adapted" to arguments[5], "back" to adapter)) {
        model.useAdapter(file)
        println("$name=${line(model.complete("Once", usual { maxNewTokens = 9 }).toList().joinToString(""))}")
    }

    println("likely=" + model.pieces(question, usual { maxNewTokens = 3; topLogprobs = 2 }).toList().joinToString("", transform = ::rated))
    val once = listOf(etbuild.Part.text("Once"))
    println("rated=" + model.completePieces(once, usual { maxNewTokens = 3; topLogprobs = 0 }).toList().joinToString("", transform = ::rated))

    val few = usual { maxNewTokens = 3 }
    val long = "fox and ".repeat(40)
    model.complete(long, few).toList()
    model.save("$adapter.session")
    model.complete("Once", few).toList()
    model.restore("$adapter.session")
    model.save("$adapter.again")
    println("kept=${line(model.complete(long, few).toList().joinToString(""))}")
    model.useAdapter(arguments[5])
    val foreign = runCatching { model.restore("$adapter.session") }.exceptionOrNull()?.message ?: "none"
    println("foreign=${foreign.substringAfterLast(": ")}")
    model.useAdapter(adapter)

    val prompt = listOf(etbuild.Part.text("fox and ".repeat(150)))
    var asked = 0
    val cancelled = model.complete(prompt, usual {}) { token, text -> asked += 1; check(token == -1 && text.isEmpty()); false }
    println("cancelled=${cancelled.ordinal}|${asked - 1}")
    val refused = listOf<suspend () -> Any?>(
        { model.pieces(question, usual { this.tools = "[{\"type\": \"function\"}]" }).toList() },
        { model.pieces(question, usual { this.tools = tools; toolChoice = "dance" }).toList() },
        { model.answer(question, usual { this.tools = tools }).toList() },
        { model.complete("Once", usual { this.tools = tools }).toList() },
        { model.pieces(listOf(Message(Role.USER, etbuild.Part.call(Call("a", "b", "{}"))))).toList() },
        { model.useAdapter(weights) },
    )
    refused.forEach { call -> println("refused=${runCatching { call() }.exceptionOrNull()?.message}") }
    model.close()
}

private fun shown(piece: Piece): String = when (piece) {
    is Piece.Text -> line(piece.text)
    is Piece.Thoughts -> line(piece.text)
    is Piece.Called -> "|${piece.call.name}${piece.call.arguments}"
    is Piece.Likely -> error("nobody asked for probabilities")
}

private fun rated(piece: Piece): String {
    if (piece !is Piece.Likely) return ""
    val tokens = listOf(piece.likelihood.picked) + piece.likelihood.alternatives
    return "|" + tokens.joinToString("~") { line(it.text) + String.format(java.util.Locale.ROOT, "%.3f", it.logprob) }
}

private fun line(text: String): String = text.replace("\n", "\\n")
