package etbuild

/** A piece of an answer. */
public sealed class Piece {
    /** Text of the answer. */
    public class Text(public val text: String) : Piece()

    /** What the model thinks before the answer. */
    public class Thoughts(public val text: String) : Piece()

    /** A call of a tool, once it is complete. */
    public class Called(public val call: Call) : Piece()
}

/** Sees the pieces of an answer as they come. */
public fun interface PieceListener {
    /** Sees a piece. False ends the answer. */
    public fun see(piece: Piece): Boolean
}

/** What the native methods tell of an answer. */
internal class PieceTeller(private val isWanted: () -> Boolean, private val listener: PieceListener) {
    fun see(@Suppress("UNUSED_PARAMETER") token: Int, text: String): Boolean = tell(if (text.isEmpty()) null else Piece.Text(text))

    fun think(text: String): Boolean = tell(Piece.Thoughts(text))

    fun call(id: String, name: String, arguments: String): Boolean = tell(Piece.Called(Call(id, name, arguments)))

    private fun tell(piece: Piece?): Boolean = isWanted() && (piece == null || listener.see(piece))
}
