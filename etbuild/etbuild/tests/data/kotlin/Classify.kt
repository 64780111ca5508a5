// Classifies images of 8 x 8 pixels: LIBRARY PROGRAM IMAGES DAMAGED. IMAGES are `float` in the byte order of this machine. Prints a line for
// each image, then what went wrong with calls that are mistakes.
import etbuild.ElementType
import etbuild.EtbuildException
import etbuild.LanguageModel
import etbuild.Module
import etbuild.Tensor
import java.io.RandomAccessFile
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.channels.FileChannel

const val PIXELS = 64

fun main(arguments: Array<String>) {
    val (library, program, file, damaged) = arguments
    val images = RandomAccessFile(file, "r").channel.let { it.map(FileChannel.MapMode.READ_ONLY, 0, it.size()) }
    Module.load(library, program, threads = 1).use { module ->
        check(module.inputNames == listOf("x")) { module.inputNames }
        val reused = Tensor.zeros(ElementType.FLOAT32, 1, 10)
        for (start in 0 until images.limit() step 4 * PIXELS) {
            val image = Tensor(ElementType.FLOAT32, longArrayOf(1, 1, 8, 8), images.part(start, 4 * PIXELS))
            val (scores) = module.execute(image)
            module.executeInto(listOf(image), listOf(reused))
            check(scores.type == ElementType.FLOAT32 && scores.shape.contentEquals(longArrayOf(1, 10)))
            check(scores.bytes().contentEquals(reused.bytes()))
            println(scores.floats().withIndex().maxBy { it.value }.index)
        }
    }
    fromBytes(library, program)
    refused(library, program, damaged)
}

/** A program file in a buffer computes the same as its file, in a heap buffer and in a direct one. */
fun fromBytes(library: String, program: String) {
    val bytes = java.io.File(program).readBytes()
    val direct = ByteBuffer.allocateDirect(bytes.size + 3).apply { position(3); put(bytes); position(3) }
    val scores = listOf(ByteBuffer.wrap(bytes), direct).map { buffer ->
        Module.load(library, buffer).use { it.execute(Tensor.of(FloatArray(PIXELS) { 0.5f }, 1, 1, 8, 8)).single().bytes() }
    }
    check(scores[0].contentEquals(scores[1]))
}

fun refused(library: String, program: String, damaged: String) {
    val closed = Module.load(library, program).apply { close(); close() }
    val image = Tensor.zeros(ElementType.FLOAT32, 1, 1, 8, 8)
    val module = Module.load(library, program)
    val calls = listOf<() -> Any?>(
        { Module.load(library, "/nothing/\uD83D\uDE00.pte") },
        { Module.load(library, damaged) },
        { Module.load(library, program, method = "backward") },
        { Module.load(library, program, threads = 1000) },
        { LanguageModel.load(library, program) },
        { module.execute(Tensor.zeros(ElementType.INT64, 1, 1, 8, 8)) },
        { module.execute(Tensor.zeros(ElementType.FLOAT32, 1, 1, 8, 9)) },
        { module.execute() },
        { module.executeInto(listOf(image), listOf(Tensor.zeros(ElementType.FLOAT32, 10))) },
        { closed.execute(image) },
        { Tensor.of(FloatArray(3), 2, 2) },
        { Tensor(ElementType.FLOAT32, longArrayOf(1), ByteBuffer.allocate(4)) },
    )
    for (call in calls) {
        val problem = runCatching(call).exceptionOrNull()
        println("${problem?.javaClass?.simpleName}: ${problem?.message}")
    }
    module.close()
}

fun ByteBuffer.part(start: Int, size: Int): ByteBuffer = duplicate().apply { position(start); limit(start + size) }
