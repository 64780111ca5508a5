// Reads pictures: PROGRAM PROMPT PICTURE...; prints the answer. A picture that ends in `.ppm` is given as pixels.
import Etbuild
import Foundation

@main
enum Look {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let model = try LanguageModel(contentsOf: URL(fileURLWithPath: arguments[1]))
        var options = model.options
        options.maxNewTokens = 50
        let parts = try arguments.dropFirst(3).map(picture) + [.text(arguments[2])]
        let conversation = [Turn(.user, parts)]
        var answer = ""
        for try await piece in model.answer(conversation, options: options) {
            answer += piece
        }
        print(answer)
        var synchronous = ""
        try model.answer(conversation, options: options) { piece in
            synchronous += piece
            return true
        }
        precondition(synchronous == answer)
        do {
            for try await _ in model.complete([.picture(Data("no picture".utf8))], options: options) {}
        } catch {
            print(error)
        }
    }

    static func picture(_ path: String) throws -> Part {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        guard path.hasSuffix(".ppm") else { return .picture(bytes) }
        let sizes = String(decoding: bytes.prefix(13), as: UTF8.self).split(separator: " ")
        return .pixels(bytes.dropFirst(13), width: Int(sizes[1])!, height: Int(sizes[2])!)
    }
}
