package etbuild

/**
 * What a transcript should be.
 *
 * @param language the code of the language of the speech, such as `en`; null for the language that the model hears
 * @param translate whether the transcript is in English
 * @param timestamps whether the model ends segments, with times
 * @param wordTimestamps whether words have times, for programs with `export.word_timestamps`
 * @param prompt text that the model takes as the text before, for names and spelling
 */
public class Speech @JvmOverloads constructor(
    private val language: String? = null,
    translate: Boolean = false,
    private val timestamps: Boolean = false,
    private val wordTimestamps: Boolean = false,
    private val prompt: String? = null,
) {
    private val task: Int = if (translate) 1 else 0
}

/** A word of a transcript, with spaces and punctuation around; times are in seconds. */
public class Word(public val start: Double, public val end: Double, public val text: String)

/** A part of a transcript; times are in seconds. `words` is empty where words have no times. */
public class Segment(public val start: Double, public val end: Double, public val text: String, public val words: List<Word>)

/** Collects the words of a segment, and shows each segment. */
internal class Heard(private val see: (Segment) -> Boolean) {
    private val words = ArrayList<Word>()

    fun word(start: Double, end: Double, text: String): Boolean = words.add(Word(start, end, text))

    fun segment(start: Double, end: Double, text: String): Boolean {
        val segment = Segment(start, end, text, words.toList())
        words.clear()
        return see(segment)
    }
}
