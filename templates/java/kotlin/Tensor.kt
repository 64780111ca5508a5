package etbuild

import java.nio.ByteBuffer
import java.nio.ByteOrder

/** The type of the elements of a tensor. */
public enum class ElementType(internal val number: Int, internal val size: Int) {
    UINT8(0, 1), INT8(1, 1), INT16(2, 2), INT32(3, 4), INT64(4, 8),
    FLOAT16(5, 2), FLOAT32(6, 4), FLOAT64(7, 8), BOOL(11, 1), BFLOAT16(15, 2);

    internal companion object {
        fun of(number: Int): ElementType =
            entries.find { it.number == number } ?: throw EtbuildException("there is no type $number of elements")
    }
}

/**
 * A tensor in a direct buffer: models read inputs from the buffer, and write outputs to it, without a copy in the heap of Java.
 *
 * @param type the type of the elements
 * @param shape the sizes of the dimensions, outermost first
 * @param elements a direct buffer from its position to its limit: the elements in row-major order and in the byte order of the machine.
 *   The tensor shares the memory.
 */
public class Tensor(public val type: ElementType, public val shape: LongArray, elements: ByteBuffer) {
    /** The elements in row-major order. Position and limit may be changed. */
    public val data: ByteBuffer = elements.slice().order(ByteOrder.nativeOrder())

    init {
        require(elements.isDirect) { "the buffer of a tensor is not direct" }
        val wanted = count(shape) * type.size
        require(wanted == data.capacity().toLong()) {
            "a tensor ${shape.contentToString()} of $type takes $wanted bytes, and the buffer has ${data.capacity()}"
        }
    }

    /** A copy of the elements of a tensor of `FLOAT32`. */
    public fun floats(): FloatArray = of(ElementType.FLOAT32).asFloatBuffer().let { FloatArray(it.remaining()).also(it::get) }

    /** A copy of the elements of a tensor of `INT32`. */
    public fun ints(): IntArray = of(ElementType.INT32).asIntBuffer().let { IntArray(it.remaining()).also(it::get) }

    /** A copy of the elements of a tensor of `INT64`. */
    public fun longs(): LongArray = of(ElementType.INT64).asLongBuffer().let { LongArray(it.remaining()).also(it::get) }

    /** A copy of the bytes of the elements. */
    public fun bytes(): ByteArray = whole().let { ByteArray(it.remaining()).also(it::get) }

    override fun toString(): String = "Tensor($type, ${shape.contentToString()})"

    private fun of(wanted: ElementType): ByteBuffer {
        check(type == wanted) { "the elements are of $type" }
        return whole()
    }

    /** All elements, whatever position and limit of `data` are. */
    internal fun whole(): ByteBuffer = data.duplicate().order(ByteOrder.nativeOrder()).apply { clear() }

    public companion object {
        /** A tensor of zeros. */
        @JvmStatic
        public fun zeros(type: ElementType, vararg shape: Long): Tensor =
            Tensor(type, shape, ByteBuffer.allocateDirect(Math.toIntExact(Math.multiplyExact(count(shape), type.size.toLong()))))

        /** A tensor of `FLOAT32` with a copy of `elements`. */
        @JvmStatic
        public fun of(elements: FloatArray, vararg shape: Long): Tensor =
            zeros(ElementType.FLOAT32, *shape).apply { data.asFloatBuffer().put(fitting(elements.size, elements)) }

        /** A tensor of `INT32` with a copy of `elements`. */
        @JvmStatic
        public fun of(elements: IntArray, vararg shape: Long): Tensor =
            zeros(ElementType.INT32, *shape).apply { data.asIntBuffer().put(fitting(elements.size, elements)) }

        /** A tensor of `INT64` with a copy of `elements`. */
        @JvmStatic
        public fun of(elements: LongArray, vararg shape: Long): Tensor =
            zeros(ElementType.INT64, *shape).apply { data.asLongBuffer().put(fitting(elements.size, elements)) }

        /** A tensor of `UINT8` with a copy of `elements`. */
        @JvmStatic
        public fun of(elements: ByteArray, vararg shape: Long): Tensor =
            zeros(ElementType.UINT8, *shape).apply { whole().put(fitting(elements.size, elements)) }

        private fun count(shape: LongArray): Long = shape.fold(1L) { product, size ->
            require(size >= 0) { "a size of ${shape.contentToString()} is negative" }
            Math.multiplyExact(product, size)
        }

        private fun <T> Tensor.fitting(size: Int, elements: T): T {
            require(count(shape) == size.toLong()) { "a tensor ${shape.contentToString()} does not have $size elements" }
            return elements
        }
    }
}
