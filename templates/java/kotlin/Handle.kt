package etbuild

/**
 * An object of a library, which one thread uses at a time: calls of other threads wait.
 *
 * @param library the functions of the library
 * @param free gives the object's memory back
 */
internal class Handle(val library: Long, private var number: Long, private val free: (Long, Long) -> Unit) {
    /** Whether somebody waits to close the object: work on it is to end early. */
    @Volatile
    var isClosing = false
        private set

    /** Uses the object. */
    @Synchronized
    fun <R> use(work: (Long, Long) -> R): R {
        check(number != 0L) { "the model is closed" }
        return work(library, number)
    }

    /** Frees the object once. */
    fun close() {
        isClosing = true
        synchronized(this) {
            if (number != 0L) free(library, number)
            number = 0
        }
    }
}
