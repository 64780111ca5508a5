package etbuild

import java.nio.ByteBuffer

/**
 * A method of a program: tensors in, tensors out.
 *
 * A module may be used by any thread; calls come one after the other. [close] gives its memory back.
 */
public class Module private constructor(library: Long, module: Long) : AutoCloseable {
    private val handle = Handle(library, module, Native::moduleFree)

    /** The names of the inputs, in order. */
    public val inputNames: List<String> = List(Native.moduleInputs(library, module)) { Native.moduleInputName(library, module, it) }

    /** Executes the method; returns the outputs in new buffers. */
    public fun execute(vararg inputs: Tensor): List<Tensor> = handle.use { library, module ->
        List(run(library, module, inputs.asList())) { index ->
            val type = ElementType.of(Native.moduleOutputType(library, module, index))
            Tensor.zeros(type, *Native.moduleOutputShape(library, module, index))
                .apply { whole().put(Native.moduleOutput(library, module, index)) }
        }
    }

    /** Executes the method, and writes the outputs to the buffers of tensors of their types and shapes. */
    public fun executeInto(inputs: List<Tensor>, outputs: List<Tensor>): Unit = handle.use { library, module ->
        val count = run(library, module, inputs)
        require(outputs.size == count) { "the method has $count outputs, and ${outputs.size} are given" }
        outputs.forEachIndexed { index, output ->
            val type = ElementType.of(Native.moduleOutputType(library, module, index))
            val shape = Native.moduleOutputShape(library, module, index)
            require(output.type == type && output.shape.contentEquals(shape)) {
                "output $index is $type ${shape.contentToString()}, and the given tensor is not"
            }
            output.whole().put(Native.moduleOutput(library, module, index))
        }
    }

    /** Sets the inputs and executes; the number of outputs. */
    private fun run(library: Long, module: Long, inputs: List<Tensor>): Int {
        require(inputs.size == inputNames.size) { "the method has ${inputNames.size} inputs, and ${inputs.size} are given" }
        inputs.forEachIndexed { index, input ->
            Native.moduleSetInput(library, module, index, input.type.number, input.shape, input.data)
        }
        return Native.moduleExecute(library, module)
    }

    override fun close(): Unit = handle.close()

    public companion object {
        /**
         * Loads a method of a program file, which is mapped.
         *
         * @param library the name of the recipe: `lib<name>.so` is loaded
         * @param program the path of the program file
         * @param method the name of the method; the recipe's default for null
         * @param data the paths of the files with weights, for a program file that keeps weights outside itself
         * @param threads the most threads that backends use; 0 for one per physical core
         */
        @JvmStatic
        @JvmOverloads
        public fun load(
            library: String, program: String, method: String? = null, data: List<String> = emptyList(), threads: Int = 0,
        ): Module {
            val functions = Native.library(library)
            return Module(functions, Native.moduleLoad(functions, program, data.toTypedArray(), method, threads))
        }

        /** Loads a method of a program file in a buffer, from its position to its limit, such as an asset. The bytes are copied. */
        @JvmStatic
        @JvmOverloads
        public fun load(
            library: String, program: ByteBuffer, method: String? = null, data: List<String> = emptyList(), threads: Int = 0,
        ): Module {
            val functions = Native.library(library)
            return Module(functions, Native.moduleLoadBytes(functions, direct(program), data.toTypedArray(), method, threads))
        }
    }
}

/** The bytes of a buffer, from its position to its limit, in a direct buffer: the same memory where the buffer is direct. */
internal fun direct(bytes: ByteBuffer): ByteBuffer =
    if (bytes.isDirect) bytes.slice() else ByteBuffer.allocateDirect(bytes.remaining()).apply { put(bytes.duplicate()) }
