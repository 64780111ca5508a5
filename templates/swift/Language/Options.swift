import CEtbuild

/// How an answer is made. `LanguageModel.options` has the values that the model's makers state.
public struct Options: Sendable, Equatable {
    /// The most tokens of an answer.
    public var maxNewTokens: Int
    /// What logits are divided by; 0 takes the most probable token each time.
    public var temperature: Float
    /// The number of the most probable tokens to pick from; 0 for all.
    public var topK: Int
    /// Only the most probable tokens that make up this share; 1 for all.
    public var topP: Float
    /// Only tokens with at least this share of the largest probability; 0 for all.
    public var minP: Float
    /// Only the tokens nearest to the entropy that make up this share; 1 for all.
    public var typicalP: Float
    /// The seed of the random numbers.
    public var seed: UInt64
    /// Divides positive logits, and multiplies negative logits, of tokens in the text; 1 for none.
    public var repetitionPenalty: Float
    /// Is subtracted from logits of tokens in the answer, for each time; 0 for none.
    public var frequencyPenalty: Float
    /// Is subtracted from logits of tokens in the answer, once; 0 for none.
    public var presencePenalty: Float
    /// No sequence of so many tokens comes twice; 0 for any.
    public var noRepeatNgramSize: Int
    /// A JSON schema that accepts the answer; nil for any answer.
    public var jsonSchema: String?
    /// A regular expression that matches the answer; nil for any answer.
    public var regex: String?
    /// A grammar in Lark's syntax that the answer is a text of; nil for any answer.
    public var grammar: String?
    /// Texts that end the answer, and are no part of it.
    public var stop: [String] = []
    /// Numbers that are added to the logits of tokens.
    public var logitBias: [UInt32: Float] = [:]
    /// Variables of the chat template for a conversation, a JSON object such as `{"enable_thinking": false}`; nil for none.
    public var templateVariables: String?
    /// Functions that the model may call in a conversation: a JSON list, as OpenAI's clients send tools; nil for none. For
    /// `LanguageModel.pieces`.
    public var tools: String?
    /// `auto`, `required`, or the name of a tool that the answer has to call; nil for `auto`.
    public var toolChoice: String?
    /// How many of the most probable tokens `LanguageModel.pieces` tells with the probability of each new token; nil for no probabilities.
    public var topLogprobs: Int?

    init(_ options: et_options) {
        maxNewTokens = options.max_new_tokens
        temperature = options.temperature
        (topK, topP, minP, typicalP) = (options.top_k, options.top_p, options.min_p, options.typical_p)
        seed = options.seed
        repetitionPenalty = options.repetition_penalty
        (frequencyPenalty, presencePenalty) = (options.frequency_penalty, options.presence_penalty)
        noRepeatNgramSize = options.no_repeat_ngram_size
    }

    func forC(_ texts: Texts) throws -> et_options {
        if maxNewTokens < 0 || topK < 0 || noRepeatNgramSize < 0 || (topLogprobs ?? 0) < 0 {
            throw EtbuildError("a number is negative")
        }
        var options = et_options()
        options.max_new_tokens = maxNewTokens
        options.temperature = temperature
        (options.top_k, options.top_p, options.min_p, options.typical_p) = (topK, topP, minP, typicalP)
        options.seed = seed
        options.repetition_penalty = repetitionPenalty
        (options.frequency_penalty, options.presence_penalty) = (frequencyPenalty, presencePenalty)
        options.no_repeat_ngram_size = noRepeatNgramSize
        options.json_schema = try texts.copy(ifAny: jsonSchema)
        options.regex = try texts.copy(ifAny: regex)
        options.grammar = try texts.copy(ifAny: grammar)
        let ends: [UnsafePointer<CChar>?] = try stop.map { try texts.copy($0) }
        (options.stop, options.stop_count) = (try texts.copy(ends), ends.count)
        let biases = logitBias.sorted { $0.key < $1.key }.map { et_bias(token: $0.key, bias: $0.value) }
        (options.logit_bias, options.logit_bias_count) = (try texts.copy(biases), biases.count)
        options.template_variables = try texts.copy(ifAny: templateVariables)
        options.tools = try texts.copy(ifAny: tools)
        options.tool_choice = try texts.copy(ifAny: toolChoice)
        options.top_logprobs = topLogprobs ?? 0
        return options
    }
}

/// What somebody says in a conversation.
public struct Message: Sendable, Equatable {
    /// Who says a message; `tool` says the result of a call.
    public enum Role: String, Sendable {
        case system, user, assistant, tool
    }

    public var role: Role
    public var content: String

    public init(_ role: Role, _ content: String) {
        (self.role, self.content) = (role, content)
    }
}

/// Why an answer ended.
public enum Ended: Int32, Sendable {
    /// The model ended the answer, the answer has a stop text, or it is complete by its form.
    case stopped = 0
    /// The answer has as many tokens as were asked for.
    case enough = 1
    /// The text has as many tokens as the program can.
    case contextFull = 2
    /// The caller wanted no more.
    case brokenOff = 3
}
