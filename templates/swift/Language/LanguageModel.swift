import CEtbuild
import Foundation

/// A language model, and the text that it has read: what a text has in common with the one before it is not read again.
///
/// A model may be used by any thread and any task; calls come one after the other. The functions that return a stream compute on a queue of the
/// model, and begin when the function is called. The end of the task that reads the stream ends the computation at the next token or behind the next
/// chunk of the prompt, of a transcript at the next segment.
public final class LanguageModel: @unchecked Sendable {
    let model: OpaquePointer
    /// A function that sees tokens may call the model, which refuses the call.
    let lock = NSRecursiveLock()
    private let queue = DispatchQueue(label: "etbuild.LanguageModel", qos: .userInitiated)

    /// The options that the model's makers state.
    public let options: Options
    /// The most tokens of a text; 0 where nobody knows.
    public let context: Int

    /// Loads a language model from its program file, which is mapped.
    ///
    /// - Parameters:
    ///   - program: the program file, `<name>.pte`
    ///   - data: the files with weights, for a program that keeps weights outside the program file
    ///   - threads: the most threads that the model uses; 0 for one per physical core
    ///   - lookup: whether tokens are guessed from the text before, which changes no answer; for programs with a method `verify`
    public init(contentsOf program: URL, data: [URL] = [], threads: Int = 0, lookup: Bool = false) throws {
        let texts = Texts()
        let path = try texts.copy(program.path)
        let files = try texts.paths(data)
        let loaded = withExtendedLifetime(texts) { et_language_load(path, files, files.count, threads, lookup) }
        guard let loaded = loaded else { throw EtbuildError.last }
        var stated = et_options()
        guard et_language_options(loaded, &stated) == 0 else {
            let error = EtbuildError.last
            et_language_free(loaded)
            throw error
        }
        (model, options, context) = (loaded, Options(stated), et_language_context(loaded))
    }

    deinit {
        et_language_free(model)
    }

    /// Puts an adapter in the place of the one before: a file `<name>.adapter.ptd` over the same layers with the same ranks as that of the program.
    /// Nothing is loaded again, and the next text is read from its beginning.
    public func useAdapter(contentsOf file: URL) throws {
        try with(file, et_language_use_adapter)
    }

    /// Writes the text that the model has read, with its KV cache, to a file: another process goes on with `restore`, and so does a binary with
    /// `--session`. Messages are the app's own to keep; pictures, sounds and what follows them are left out.
    public func save(to file: URL) throws {
        try with(file, et_language_save)
    }

    /// Goes on behind the text in a file of `save`: the next text or conversation that begins alike reads the rest alone. A file of another model, of
    /// other weights, or of another adapter than the one in use is refused.
    public func restore(contentsOf file: URL) throws {
        try with(file, et_language_restore)
    }

    private func with(_ file: URL, _ act: (OpaquePointer?, UnsafePointer<CChar>?) -> Int32) throws {
        lock.lock()
        defer { lock.unlock() }
        let texts = Texts()
        let path = try texts.copy(file.path)
        try EtbuildError.check(withExtendedLifetime(texts) { act(model, path) })
    }

    /// Continues a text: the pieces of the continuation as they come.
    public func complete(_ prompt: String, options: Options? = nil) -> AsyncThrowingStream<String, Error> {
        texts { model, see in try model.complete(prompt, options: options, see: see) }
    }

    /// Answers in a conversation: the pieces of the answer as they come.
    public func answer(_ conversation: [Message], options: Options? = nil) -> AsyncThrowingStream<String, Error> {
        texts { model, see in try model.answer(conversation, options: options, see: see) }
    }

    /// Continues a text on this thread. `see` is told each token with the text that the token makes certain, which may be empty; between the pieces
    /// of a long prompt `see` is asked with an empty text. False ends the continuation.
    @discardableResult
    public func complete(_ prompt: String, options: Options? = nil, see: (String) -> Bool) throws -> Ended {
        let texts = Texts()
        let prompt = try texts.copy(prompt)
        return try reply(options, texts, see) { options, listener, answer in
            et_language_continue(model, prompt, options, heard, listener, answer)
        }
    }

    /// Answers in a conversation on this thread, as `complete` does.
    @discardableResult
    public func answer(_ conversation: [Message], options: Options? = nil, see: (String) -> Bool) throws -> Ended {
        let texts = Texts()
        let messages = try conversation.map { message in
            et_message(role: try texts.copy(message.role.rawValue), content: try texts.copy(message.content))
        }
        return try reply(options, texts, see) { options, listener, answer in
            et_language_answer(model, messages, messages.count, options, heard, listener, answer)
        }
    }

    typealias Reply = (UnsafePointer<et_options>, UnsafeMutableRawPointer, UnsafeMutablePointer<et_answer>) -> Int32

    func reply(_ options: Options?, _ texts: Texts, _ see: (String) -> Bool, _ function: Reply) throws -> Ended {
        var answer = et_answer()
        try call(options, texts, see) { options, listener in function(options, listener, &answer) }
        return Ended(rawValue: answer.ended) ?? .stopped
    }

    /// Calls a function of the library, which tells a listener tokens or segments.
    func call<Heard>(
        _ options: Options?, _ texts: Texts, _ see: (Heard) -> Bool,
        _ function: (UnsafePointer<et_options>, UnsafeMutableRawPointer) -> Int32
    ) throws {
        lock.lock()
        defer { lock.unlock() }
        var options = try (options ?? self.options).forC(texts)
        try withoutActuallyEscaping(see) { see in
            let listener = Listener(see)
            try withExtendedLifetime((texts, listener)) {
                try EtbuildError.check(function(&options, Unmanaged.passUnretained(listener).toOpaque()))
            }
        }
    }

    /// The texts that `work` sees, without the empty ones.
    func texts(
        _ work: @escaping @Sendable (LanguageModel, (String) -> Bool) throws -> Ended
    ) -> AsyncThrowingStream<String, Error> {
        stream { model, see in try work(model) { text in see(text.isEmpty ? nil : text) } }
    }

    /// The elements that `work` sees. To see says whether somebody reads the stream, and nil asks that alone.
    func stream<Element: Sendable, Result>(
        _ work: @escaping @Sendable (LanguageModel, (Element?) -> Bool) throws -> Result
    ) -> AsyncThrowingStream<Element, Error> {
        AsyncThrowingStream { continuation in
            let reader = Reader()
            continuation.onTermination = { _ in reader.leave() }
            queue.async {
                guard reader.isThere else { return }
                do {
                    _ = try work(self) { element in
                        if let element = element {
                            continuation.yield(element)
                        }
                        return reader.isThere
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
        }
    }
}

/// What sees the tokens of an answer, or the segments of a transcript.
final class Listener<Heard> {
    let see: (Heard) -> Bool

    init(_ see: @escaping (Heard) -> Bool) {
        self.see = see
    }

    /// The function of the listener that C hands back.
    static func of(_ context: UnsafeMutableRawPointer) -> (Heard) -> Bool {
        Unmanaged<Listener<Heard>>.fromOpaque(context).takeUnretainedValue().see
    }
}

/// Tells a listener the text of a token.
let heard: et_token_function = { context, _, text, size in
    guard let context = context else { return false }
    let bytes = UnsafeRawBufferPointer(start: text, count: size)
    return Listener<String>.of(context)(String(decoding: bytes, as: UTF8.self))
}

/// Whether somebody reads a stream.
private final class Reader: @unchecked Sendable {
    private let lock = NSLock()
    private var hasLeft = false

    var isThere: Bool {
        lock.lock()
        defer { lock.unlock() }
        return !hasLeft
    }

    func leave() {
        lock.lock()
        hasLeft = true
        lock.unlock()
    }
}
