// Tells a story: PROGRAM PROMPT QUESTION. Prints the texts, the pieces of a stream that was left, and what went wrong with calls that are
// mistakes, as JSON.
import Etbuild
import Foundation

@main
enum Tell {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let model = try LanguageModel(contentsOf: URL(fileURLWithPath: arguments[1]))
        var options = model.options
        options.maxNewTokens = 24
        let text = try await joined(model.complete(arguments[2], options: options))
        let answer = try await joined(model.answer([Message(.user, arguments[3])], options: options))
        let synchronous = try onThisThread(model, arguments[2], options)
        precondition(synchronous.text == text && synchronous.ended == .enough)
        let told: [String: Any] = [
            "text": text, "answer": answer, "context": model.context,
            "left": try await left(model, arguments[2]), "cancelled": try await cancelled(model, arguments[2]),
            "waiting": try await waiting(model, arguments[2], options),
            "story": try await Storyteller(model).story(arguments[2], tokens: 24), "problems": await refused(model, options),
        ]
        print(String(decoding: try JSONSerialization.data(withJSONObject: told), as: UTF8.self))
    }

    static func joined(_ stream: AsyncThrowingStream<String, Error>) async throws -> String {
        try await stream.reduce(into: "") { $0 += $1 }
    }

    static func onThisThread(_ model: LanguageModel, _ prompt: String, _ options: Options) throws -> (text: String, ended: Ended) {
        var text = ""
        let ended = try model.complete(prompt, options: options) { piece in
            text += piece
            return true
        }
        return (text, ended)
    }

    static func long(_ model: LanguageModel) -> Options {
        var options = model.options
        (options.maxNewTokens, options.temperature) = (400, 0)
        return options
    }

    /// The pieces of a stream that a loop left: the model computes the next text at once.
    static func left(_ model: LanguageModel, _ prompt: String) async throws -> Int {
        var pieces = 0
        for try await _ in model.complete(prompt, options: long(model)) {
            pieces += 1
            if pieces == 3 {
                break
            }
        }
        return pieces
    }

    /// The pieces that a cancelled task got.
    static func cancelled(_ model: LanguageModel, _ prompt: String) async throws -> Int {
        let task = Task { () -> Int in
            var pieces = 0
            for try await _ in model.complete(prompt, options: long(model)) {
                pieces += 1
                if pieces == 3 {
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }
            return pieces
        }
        return try await task.value
    }

    /// A stream that waits for another one and is cancelled computes little; the text of the other one is the same.
    static func waiting(_ model: LanguageModel, _ prompt: String, _ options: Options) async throws -> String {
        let first = model.complete(prompt, options: options)
        let second = Task { try await joined(model.complete(prompt, options: long(model))) }
        second.cancel()
        let text = try await joined(first)
        let little = try await second.value
        precondition(little.count < 200)
        return text
    }

    static func refused(_ model: LanguageModel, _ options: Options) async -> [String] {
        let calls: [(inout Options) -> String] = [
            { _ in String(repeating: "a ", count: 4000) },
            { $0.topP = 7; return "a" },
            { $0.topK = -1; return "a" },
            { $0.regex = "a"; $0.jsonSchema = "{}"; return "a" },
            { _ in "a\u{0}b" },
        ]
        var problems: [String] = []
        for call in calls {
            var changed = options
            let prompt = call(&changed)
            do {
                problems.append("nothing went wrong: \(try await joined(model.complete(prompt, options: changed)))")
            } catch {
                problems.append("\(type(of: error)): \(error)")
            }
        }
        do {
            var inner: Error?
            let ended = try onThisThread(model) {
                do { try model.complete("b", see: { _ in true }) } catch { inner = error }
            }
            problems.append(ended == .brokenOff ? inner.map { "\(type(of: $0)): \($0)" } ?? "no failure" : "\(ended)")
        } catch {
            problems.append("\(error)")
        }
        return problems
    }

    /// A function that sees tokens calls the model, which fails, and ends the text.
    static func onThisThread(_ model: LanguageModel, _ call: () -> Void) throws -> Ended {
        try model.complete("a") { _ in
            call()
            return false
        }
    }
}
