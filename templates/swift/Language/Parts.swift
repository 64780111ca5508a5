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
    /// A call that a message of the assistant makes, or whose result a message of the role `tool` has.
    case call(Call)
}

/// A call of a tool.
public struct Call: Sendable, Equatable {
    /// By which a message with the result names the call.
    public var id: String
    /// The name of the tool.
    public var name: String
    /// A JSON object.
    public var arguments: String

    public init(id: String, name: String, arguments: String) {
        (self.id, self.name, self.arguments) = (id, name, arguments)
    }
}

/// What somebody says in a conversation: texts, pictures, sounds and calls of tools, in order.
public struct Turn: Sendable, Equatable {
    public var role: Message.Role
    public var parts: [Part]

    public init(_ role: Message.Role, _ parts: [Part]) {
        (self.role, self.parts) = (role, parts)
    }

    /// The message of the assistant that the pieces of an answer are. Templates of chats have no thoughts of earlier answers.
    public init(answer: [Piece]) {
        var (text, calls) = ("", [Part]())
        for piece in answer {
            switch piece {
            case .text(let more): text += more
            case .thoughts, .likelihood: break
            case .call(let call): calls.append(.call(call))
            }
        }
        self.init(.assistant, (text.isEmpty && !calls.isEmpty ? [] : [.text(text)]) + calls)
    }

    /// The result of a call.
    public static func result(of call: Call, _ text: String) -> Turn {
        Turn(.tool, [.call(call), .text(text)])
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
            (made.kind, made.data, made.size) = (4, UnsafeRawPointer(try copy(samples)), samples.count)
            made.rate = rate
        case .call(let call):
            let (id, name) = (try copy(call.id), try copy(call.name))
            let given = et_call(id: id, name: name, arguments: try copy(call.arguments))
            (made.kind, made.data) = (5, UnsafeRawPointer(try copy([given])))
        }
        return made
    }

    func turn(_ turn: Turn) throws -> et_turn {
        let role = try copy(turn.role.rawValue)
        let parts = try turn.parts.map(part)
        return et_turn(role: role, parts: try copy(parts), count: parts.count)
    }

    private func bytes(_ data: Data) -> UnsafeRawPointer {
        let content = NSData(data: data)
        contents.append(content)
        return content.bytes
    }
}
