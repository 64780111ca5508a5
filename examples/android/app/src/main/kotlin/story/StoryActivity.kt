package story

import android.app.Activity
import android.os.Bundle
import android.widget.Button
import android.widget.EditText
import android.widget.LinearLayout
import android.widget.TextView
import etbuild.EtbuildException
import java.io.FileInputStream
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.MainScope
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch

/** A prompt, and the story that the model makes of it. A second press of the button stops the story. */
class StoryActivity : Activity() {
    private val scope = MainScope()
    private val teller = scope.async(Dispatchers.IO) { Storyteller(asset("tiny-llama.pte")) }
    private var story: Job? = null

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        val prompt = EditText(this).apply { setText(R.string.prompt) }
        val text = TextView(this)
        val button = Button(this).apply { setText(R.string.tell) }
        button.setOnClickListener {
            if (story?.isActive == true) story?.cancel() else story = tell(prompt.text.toString(), text, button)
        }
        setContentView(LinearLayout(this).apply {
            orientation = LinearLayout.VERTICAL
            listOf(prompt, button, text).forEach(::addView)
        })
    }

    private fun tell(prompt: String, text: TextView, button: Button): Job = scope.launch {
        button.setText(R.string.stop)
        text.text = prompt
        try {
            teller.await().tell(prompt).collect(text::append)
        } catch (problem: EtbuildException) {
            text.append("\n${problem.message}")
        } finally {
            button.setText(R.string.tell)
        }
    }

    /** A file of the package in memory; mapped, because the package has it uncompressed. */
    private fun asset(name: String): ByteBuffer = assets.openFd(name).use { file ->
        FileInputStream(file.fileDescriptor).channel.map(FileChannel.MapMode.READ_ONLY, file.startOffset, file.declaredLength)
    }

    override fun onDestroy() {
        story?.cancel()
        scope.launch(Dispatchers.IO + NonCancellable) { close() }.invokeOnCompletion { scope.cancel() }
        super.onDestroy()
    }

    /** Gives the memory of the model back, which may have to be loaded yet. */
    private suspend fun close() {
        try {
            teller.await().close()
        } catch (problem: EtbuildException) {
            // The press of the button has shown the reason: no model was loaded.
        }
    }
}
