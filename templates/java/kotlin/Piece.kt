package etbuild

/** A piece of an answer. */
public sealed class Piece {
    /** Text of the answer. */
    public class Text(public val text: String) : Piece()

    /** What the model thinks before the answer. */
    public class Thoughts(public val text: String) : Piece()

    /** A call of a tool, once it is complete. */
    public class Called(public val call: Call) : Piece()

    /** How probable the next token is, ahead of its text; with [Options.topLogprobs]. */
    public class Likely(public val likelihood: Likelihood) : Piece()
}

/**
 * A token that may come next.
 *
 * @property token the token
 * @property text its text alone
 * @property logprob the natural logarithm of its probability at temperature 1
 */
public class Alternative(public val token: Int, public val text: String, public val logprob: Double)

/**
 * How probable a new token is.
 *
 * @property picked the new token
 * @property alternatives the most probable tokens, the most probable first
 */
public class Likelihood(public val picked: Alternative, public val alternatives: List<Alternative>)

/** Sees the pieces of an answer as they come. */
public fun interface PieceListener {
    /** Sees a piece. False ends the answer. */
    public fun see(piece: Piece): Boolean
}

/** What the native methods tell of an answer. */
internal class PieceTeller(private val isWanted: () -> Boolean, private val listener: PieceListener) {
    /** The tokens of a likelihood so far, the picked one first. */
    private val tokens = mutableListOf<Alternative>()

    fun see(@Suppress("UNUSED_PARAMETER") token: Int, text: String): Boolean = tell(if (text.isEmpty()) null else Piece.Text(text))

    fun think(text: String): Boolean = tell(Piece.Thoughts(text))

    fun call(id: String, name: String, arguments: String): Boolean = tell(Piece.Called(Call(id, name, arguments)))

    /** Tells the picked token, and then its alternatives; [left] is how many follow. */
    fun likely(token: Int, logprob: Double, left: Int, text: String): Boolean {
        tokens += Alternative(token, text, logprob)
        if (left > 0) return true
        val likelihood = Likelihood(tokens.first(), tokens.drop(1))
        tokens.clear()
        return tell(Piece.Likely(likelihood))
    }

    private fun tell(piece: Piece?): Boolean = isWanted() && (piece == null || listener.see(piece))
}
