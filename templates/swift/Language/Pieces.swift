import CEtbuild

/// A piece of an answer.
public enum Piece: Sendable, Equatable {
    case text(String)
    /// What the model thinks before the answer.
    case thoughts(String)
    /// A call of a tool, once it is complete.
    case call(Call)
    /// How probable the next token is, ahead of its text; with `Options.topLogprobs`.
    case likelihood(Likelihood)
}

/// A token that may come next.
public struct Alternative: Sendable, Equatable {
    public var token: UInt32
    /// The text of the token alone.
    public var text: String
    /// The natural logarithm of the probability at temperature 1.
    public var logprob: Float
}

/// How probable a new token is.
public struct Likelihood: Sendable, Equatable {
    /// The new token.
    public var picked: Alternative
    /// The most probable tokens, the most probable first.
    public var alternatives: [Alternative]
}

extension LanguageModel {
    /// Answers in a conversation: text, thoughts and calls of tools as they come. `Turn(answer:)` makes a message of all pieces.
    public func pieces(_ conversation: [Turn], options: Options? = nil) -> AsyncThrowingStream<Piece, Error> {
        stream { model, see in try model.reply(conversation, options, see) }
    }

    /// Answers in a conversation on this thread: text, thoughts and calls of tools. False ends the answer.
    @discardableResult
    public func pieces(_ conversation: [Turn], options: Options? = nil, see: (Piece) -> Bool) throws -> Ended {
        try reply(conversation, options) { piece in piece.map(see) ?? true }
    }

    /// Continues a prompt: text, and with `Options.topLogprobs` how probable each token is, as they come.
    public func pieces(_ prompt: [Part], options: Options? = nil) -> AsyncThrowingStream<Piece, Error> {
        stream { model, see in try model.reply(prompt, options, see) }
    }

    /// Continues a prompt on this thread: text and probabilities. False ends the continuation.
    @discardableResult
    public func pieces(_ prompt: [Part], options: Options? = nil, see: (Piece) -> Bool) throws -> Ended {
        try reply(prompt, options) { piece in piece.map(see) ?? true }
    }

    /// `see` is asked with nil whether to go on.
    private func reply(_ conversation: [Turn], _ options: Options?, _ see: (Piece?) -> Bool) throws -> Ended {
        let memory = PartMemory()
        let turns = try conversation.map(memory.turn)
        return try apart(options, memory, see) { options, listener, answer in
            et_language_answer_parts(model, turns, turns.count, options, said, listener, answer)
        }
    }

    private func reply(_ prompt: [Part], _ options: Options?, _ see: (Piece?) -> Bool) throws -> Ended {
        let memory = PartMemory()
        let parts = try prompt.map(memory.part)
        return try apart(options, memory, see) { options, listener, answer in
            et_language_continue_parts(model, parts, parts.count, options, said, listener, answer)
        }
    }

    /// Calls a function of the library, which tells thoughts, calls and probabilities apart.
    private func apart(_ options: Options?, _ texts: Texts, _ see: (Piece?) -> Bool, _ function: Reply) throws -> Ended {
        var answer = et_answer()
        try call(options, texts, see) { given, listener in
            var apart = given.pointee
            (apart.think, apart.call) = (thought, called)
            if options?.topLogprobs != nil {
                apart.likely = likely
            }
            return function(&apart, listener, &answer)
        }
        return Ended(rawValue: answer.ended) ?? .stopped
    }

    /// The tokens of a text; with `begins` those that begin every text, too.
    public func encode(_ text: String, begins: Bool = true) throws -> [UInt32] {
        let texts = Texts()
        let copy = try texts.copy(text)
        return try withExtendedLifetime(texts) {
            try elements { et_language_encode(model, copy, begins, $0, $1, $2) }
        }
    }

    /// The tokens of a conversation, up to the start of the answer: what the conversation takes of the context.
    public func encode(_ conversation: [Turn], options: Options? = nil) throws -> [UInt32] {
        let memory = PartMemory()
        let turns = try conversation.map(memory.turn)
        var given = try (options ?? self.options).forC(memory)
        return try withExtendedLifetime(memory) {
            try elements { et_language_encode_turns(model, turns, turns.count, &given, $0, $1, $2) }
        }
    }

    /// The text of tokens, without special tokens.
    public func decode(_ tokens: [UInt32]) throws -> String {
        let bytes: [CChar] = try elements { et_language_decode(model, tokens, tokens.count, $0, $1, $2) }
        return String(decoding: bytes.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// All elements that a function writes.
    private func elements<Element: ExpressibleByIntegerLiteral>(
        _ write: (UnsafeMutablePointer<Element>?, Int, UnsafeMutablePointer<Int>) -> Int32
    ) throws -> [Element] {
        lock.lock()
        defer { lock.unlock() }
        // A second call would tokenize a text again.
        let room = 4096
        var count = 0
        var elements = [Element](repeating: 0, count: room)
        try EtbuildError.check(write(&elements, room, &count))
        if count > room {
            elements = [Element](repeating: 0, count: count)
            try EtbuildError.check(write(&elements, count, &count))
        }
        return Array(elements.prefix(count))
    }
}

/// Tells a listener the text of a token, and asks it between the chunks of a prompt.
private let said: et_token_function = { context, _, text, size in
    tell(context, size == 0 ? nil : .text(string(text, size)))
}

private let thought: et_text_function = { context, text, size in tell(context, .thoughts(string(text, size))) }

private let called: et_call_function = { context, call in
    guard let call = call?.pointee, let id = call.id, let name = call.name, let arguments = call.arguments else { return false }
    return tell(context, .call(Call(id: String(cString: id), name: String(cString: name), arguments: String(cString: arguments))))
}

private let likely: et_likelihood_function = { context, likelihood in
    guard let likelihood = likelihood?.pointee else { return false }
    let alternatives = UnsafeBufferPointer(start: likelihood.alternatives, count: likelihood.count).map(alternative)
    return tell(context, .likelihood(Likelihood(picked: alternative(likelihood.picked), alternatives: alternatives)))
}

private func alternative(_ given: et_alternative) -> Alternative {
    Alternative(token: given.token, text: string(given.text, given.size), logprob: given.logprob)
}

private func string(_ text: UnsafePointer<CChar>?, _ size: Int) -> String {
    String(decoding: UnsafeRawBufferPointer(start: text, count: size), as: UTF8.self)
}

private func tell(_ context: UnsafeMutableRawPointer?, _ piece: Piece?) -> Bool {
    guard let context = context else { return false }
    return Listener<Piece?>.of(context)(piece)
}
