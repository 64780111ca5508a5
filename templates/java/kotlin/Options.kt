package etbuild

/** How an answer is made. [LanguageModel.options] has the values that the model's makers state. */
public class Options internal constructor() : Cloneable {
    /** The most tokens of an answer. */
    @JvmField public var maxNewTokens: Long = 0

    /** What logits are divided by; 0 takes the most probable token each time. */
    @JvmField public var temperature: Float = 0f

    /** The number of the most probable tokens to pick from; 0 for all. */
    @JvmField public var topK: Long = 0

    /** Only the most probable tokens that make up this share; 1 for all. */
    @JvmField public var topP: Float = 1f

    /** Only tokens with at least this share of the largest probability; 0 for all. */
    @JvmField public var minP: Float = 0f

    /** Only the tokens nearest to the entropy that make up this share; 1 for all. */
    @JvmField public var typicalP: Float = 1f

    /** The seed of the random numbers. */
    @JvmField public var seed: Long = 0

    /** Divides positive logits, and multiplies negative logits, of tokens in the text; 1 for none. */
    @JvmField public var repetitionPenalty: Float = 1f

    /** Is subtracted from logits of tokens in the answer, for each time; 0 for none. */
    @JvmField public var frequencyPenalty: Float = 0f

    /** Is subtracted from logits of tokens in the answer, once; 0 for none. */
    @JvmField public var presencePenalty: Float = 0f

    /** No sequence of so many tokens comes twice; 0 for any. */
    @JvmField public var noRepeatNgramSize: Long = 0

    /** A JSON schema that accepts the answer; null for any answer. */
    @JvmField public var jsonSchema: String? = null

    /** A regular expression that matches the answer; null for any answer. */
    @JvmField public var regex: String? = null

    /** A grammar of the answer, in Lark's syntax; null for any answer. */
    @JvmField public var grammar: String? = null

    /** Texts that end the answer, and are no part of it. */
    @JvmField public var stop: Array<String> = emptyArray()

    /** Variables of the chat template for a conversation, a JSON object such as `{"enable_thinking": false}`; null for none. */
    @JvmField public var templateVariables: String? = null

    /**
     * Functions that the model may call in a conversation: a JSON list, as OpenAI's clients send tools; null for none. For
     * [LanguageModel.pieces].
     */
    @JvmField public var tools: String? = null

    /**
     * How many of the most probable tokens [LanguageModel.pieces] and [LanguageModel.completePieces] tell with the probability of each new token; -1
     * for no probabilities.
     */
    @JvmField public var topLogprobs: Int = -1

    /** `auto`, `required`, or the name of a tool that the answer has to call; null for `auto`. */
    @JvmField public var toolChoice: String? = null

    private var biasedTokens = IntArray(0)
    private var biases = FloatArray(0)

    /** Numbers that are added to the logits of tokens. */
    public var logitBias: Map<Int, Float>
        get() = biasedTokens.zip(biases.toTypedArray()).toMap()
        set(value) {
            biasedTokens = value.keys.toIntArray()
            biases = value.values.toFloatArray()
        }

    /** The same values in an object of their own. */
    internal fun copy(): Options = clone() as Options
}
