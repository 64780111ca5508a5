package story

import etbuild.LanguageModel
import java.nio.ByteBuffer
import kotlinx.coroutines.flow.Flow

/** The model of the app. */
class Storyteller(program: ByteBuffer) : AutoCloseable {
    private val model = LanguageModel.load("tiny-llama", program, lookup = true)

    /** The story that begins with `prompt`, piece by piece. */
    fun tell(prompt: String): Flow<String> = model.complete(prompt, model.options { maxNewTokens = 200 })

    override fun close() = model.close()
}
