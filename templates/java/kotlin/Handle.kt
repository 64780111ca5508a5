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

    /** The calls in progress, one within another: a listener may use the object that calls the listener. */
    private var calls = 0

    /** Uses the object. */
    @Synchronized
    fun <R> use(work: (Long, Long) -> R): R {
        check(number != 0L && !isClosing) { "the model is closed" }
        calls++
        try {
            return work(library, number)
        } finally {
            calls--
            if (isClosing) free()
        }
    }

    /** Frees the object once: at the end of the call in progress, if a listener closes the object. */
    fun close() {
        isClosing = true
        synchronized(this) { free() }
    }

    private fun free() {
        if (calls > 0 || number == 0L) return
        free(library, number)
        number = 0
    }
}
