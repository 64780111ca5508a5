import Etbuild
import Foundation

/// Tells stories piece by piece.
struct Storyteller: Sendable {
    private let model: LanguageModel

    init(_ model: LanguageModel) {
        self.model = model
    }

    /// The pieces of a story as they come.
    func pieces(_ beginning: String, tokens: Int) -> AsyncThrowingStream<String, Error> {
        var options = model.options
        options.maxNewTokens = tokens
        return model.complete(beginning, options: options)
    }

    /// A whole story.
    func story(_ beginning: String, tokens: Int) async throws -> String {
        try await pieces(beginning, tokens: tokens).reduce(into: beginning) { $0 += $1 }
    }
}
