import CEtbuild
import Foundation

/// A part of a prompt or of a message.
public enum Part: Sendable, Equatable {
    case text(String)
    /// The bytes of a PNG or JPEG file.
    case picture(Data)
    /// Pixels row by row from the top, with a byte each of red, green and blue.
    case pixels(Data, width: Int, height: Int)
    /// The bytes of a WAV file.
    case sound(Data)
    /// Samples of one channel from -1 to 1, `rate` a second.
    case samples([Float], rate: Int)
}

/// What somebody says in a conversation: texts, pictures and sounds, in order.
public struct Turn: Sendable, Equatable {
    public var role: Message.Role
    public var parts: [Part]

    public init(_ role: Message.Role, _ parts: [Part]) {
        (self.role, self.parts) = (role, parts)
    }
}

extension LanguageModel {
    /// Continues a prompt of texts, pictures and sounds: the pieces of the continuation as they come.
    public func complete(_ prompt: [Part], options: Options? = nil) -> AsyncThrowingStream<String, Error> {
        texts { model, see in try model.complete(prompt, options: options, see: see) }
    }

    /// Answers in a conversation with pictures and sounds: the pieces of the answer as they come.
    public func answer(_ conversation: [Turn], options: Options? = nil) -> AsyncThrowingStream<String, Error> {
        texts { model, see in try model.answer(conversation, options: options, see: see) }
    }

    /// Continues a prompt on this thread. `see` is told each token, as by the function for a text.
    @discardableResult
    public func complete(_ prompt: [Part], options: Options? = nil, see: (String) -> Bool) throws -> Ended {
        let memory = PartMemory()
        let parts = try prompt.map(memory.part)
        return try reply(options, memory, see) { options, listener, answer in
            et_language_continue_parts(model, parts, parts.count, options, heard, listener, answer)
        }
    }

    /// Answers in a conversation on this thread, as `complete` does.
    @discardableResult
    public func answer(_ conversation: [Turn], options: Options? = nil, see: (String) -> Bool) throws -> Ended {
        let memory = PartMemory()
        let turns = try conversation.map(memory.turn)
        return try reply(options, memory, see) { options, listener, answer in
            et_language_answer_parts(model, turns, turns.count, options, heard, listener, answer)
        }
    }
}

/// Parts for C, which live as long as the object.
final class PartMemory: Texts {
    private var contents: [NSData] = []
    private var sounds: [UnsafeMutableBufferPointer<Float>] = []
    private var lists: [UnsafeMutableBufferPointer<et_part>] = []

    func part(_ part: Part) throws -> et_part {
        var made = et_part()
        switch part {
        case .text(let text):
            (made.kind, made.data) = (0, UnsafeRawPointer(try copy(text)))
        case .picture(let file):
            (made.kind, made.data, made.size) = (1, bytes(file), file.count)
        case .pixels(let pixels, let width, let height):
            guard width >= 0, height >= 0 else { throw EtbuildError("a number is negative") }
            (made.kind, made.data, made.size) = (2, bytes(pixels), pixels.count)
            (made.width, made.height) = (width, height)
        case .sound(let file):
            (made.kind, made.data, made.size) = (3, bytes(file), file.count)
        case .samples(let samples, let rate):
            guard let rate = UInt32(exactly: rate) else { throw EtbuildError("\(rate) is no rate of samples") }
            let copy = UnsafeMutableBufferPointer<Float>.allocate(capacity: samples.count)
            _ = copy.initialize(from: samples)
            sounds.append(copy)
            (made.kind, made.data, made.size) = (4, UnsafeRawPointer(copy.baseAddress), samples.count)
            made.rate = rate
        }
        return made
    }

    func turn(_ turn: Turn) throws -> et_turn {
        let role = try copy(turn.role.rawValue)
        let parts = try turn.parts.map(part)
        let list = UnsafeMutableBufferPointer<et_part>.allocate(capacity: parts.count)
        _ = list.initialize(from: parts)
        lists.append(list)
        return et_turn(role: role, parts: list.baseAddress, count: list.count)
    }

    private func bytes(_ data: Data) -> UnsafeRawPointer {
        let content = NSData(data: data)
        contents.append(content)
        return content.bytes
    }

    deinit {
        lists.forEach { $0.deallocate() }
        sounds.forEach { $0.deallocate() }
    }
}
