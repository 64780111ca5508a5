// As chat.c, in Swift: PROGRAM TOOLS WEIGHTS ADAPTER OTHER_ADAPTER.
import Etbuild
import Foundation

let written = #"Ho <tool_call>\n\{"name": "tell", "arguments": \{"words": "fox", "count": 3\}\}\n</tool_call>"#

@main
struct Chat {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let files = arguments.map { URL(fileURLWithPath: $0) }
        let (model, tools) = (try LanguageModel(contentsOf: files[1], data: Array(files[3...4]), threads: 1), arguments[2])
        func usual(_ change: (inout Options) -> Void) -> Options {
            var options = model.options
            (options.maxNewTokens, options.temperature) = (200, 0)
            change(&options)
            return options
        }
        func pieces(_ name: String, _ conversation: [Turn], _ options: Options) async throws -> [Piece] {
            var (pieces, again) = ([Piece](), [Piece]())
            for try await piece in model.pieces(conversation, options: options) { pieces.append(piece) }
            try model.pieces(conversation, options: options) { piece in again.append(piece); return true }
            precondition(pieces.map(shown).joined() == again.map(shown).joined())
            print("\(name)=\(pieces.map(shown).joined())")
            return pieces
        }
        let question = [Turn(.user, [.text("Tell me a tale.")])]
        _ = try await pieces("written", question, usual { $0.tools = tools; $0.regex = written })
        let demanded = usual { options in
            (options.tools, options.toolChoice, options.temperature, options.seed) = (tools, "required", 1, 7)
        }
        let required = try await pieces("required", question, demanded)
        let calls = required.compactMap { piece -> Call? in if case .call(let call) = piece { return call } else { return nil } }
        let conversation = question + [Turn(answer: required)] + calls.map { Turn.result(of: $0, "a fox") }
        let options = usual { $0.tools = tools; $0.maxNewTokens = 20 }
        _ = try await pieces("answer", conversation, options)
        print("prompt=\(try model.encode(conversation, options: options).count)")
        let thinking = usual { $0.maxNewTokens = 9; $0.templateVariables = #"{"enable_thinking": true}"# }
        _ = try await pieces("thoughts", question, thinking)

        var stopped = ""
        let ended = try model.complete("Once", options: usual { $0.stop = ["no such text", " a"] }) { text in
            stopped += text
            return true
        }
        print("stopped=\(line(stopped))|\(ended.rawValue)")
        let encoded = try model.encode("Once there was", begins: false)
        print("decoded=\(try model.decode(encoded))")
        var biased = ""
        try model.complete("Once", options: usual { $0.maxNewTokens = 3; $0.logitBias = [encoded[0]: 100] }) { text in
            biased += text
            return true
        }
        print("biased=\(line(biased))")
        for (name, file) in [("adapted", files[5]), ("back", files[4])] {
            try model.useAdapter(contentsOf: file)
            var text = ""
            try model.complete("Once", options: usual { $0.maxNewTokens = 9 }) { text += $0; return true }
            print("\(name)=\(line(text))")
        }
        let two = usual { ($0.maxNewTokens, $0.topLogprobs) = (3, 2) }
        var likely = ""
        try model.pieces(question, options: two) { likely += rated($0); return true }
        print("likely=\(likely)")
        likely = ""
        try model.pieces([.text("Once")] as [Part], options: usual { ($0.maxNewTokens, $0.topLogprobs) = (3, 0) }) { likely += rated($0); return true }
        print("rated=\(likely)")

        let few = usual { $0.maxNewTokens = 3 }
        let long = String(repeating: "fox and ", count: 40)
        let (session, again) = (URL(fileURLWithPath: arguments[4] + ".session"), URL(fileURLWithPath: arguments[4] + ".again"))
        try model.complete(long, options: few) { _ in true }
        try model.save(to: session)
        try model.complete("Once", options: few) { _ in true }
        try model.restore(contentsOf: session)
        try model.save(to: again)
        var kept = ""
        try model.complete(long, options: few) { kept += $0; return true }
        print("kept=\(line(kept))")
        try model.useAdapter(contentsOf: files[5])
        do { try model.restore(contentsOf: session) } catch { print("foreign=\("\(error)".components(separatedBy: ": ").last ?? "")") }
        try model.useAdapter(contentsOf: files[4])

        var asked = 0
        let cancelled = try model.complete(String(repeating: "fox and ", count: 150), options: usual { _ in }) { text in
            precondition(text.isEmpty)
            asked += 1
            return false
        }
        print("cancelled=\(cancelled.rawValue)|\(asked - 1)")
        func refused(_ conversation: [Turn], _ options: Options) {
            do {
                try model.pieces(conversation, options: options) { _ in true }
                print("refused=nothing")
            } catch {
                print("refused=\(error)")
            }
        }
        refused(question, usual { $0.tools = #"[{"type": "function"}]"# })
        refused(question, usual { $0.tools = tools; $0.toolChoice = "dance" })
        do { try model.answer(question, options: usual { $0.tools = tools }) { _ in true } } catch { print("refused=\(error)") }
        do { try model.complete("Once", options: usual { $0.tools = tools }) { _ in true } } catch { print("refused=\(error)") }
        refused([Turn(.user, [.call(Call(id: "a", name: "b", arguments: "{}"))])], model.options)
        do { try model.useAdapter(contentsOf: files[3]) } catch { print("refused=\(error)") }
    }
}

func shown(_ piece: Piece) -> String {
    switch piece {
    case .text(let text), .thoughts(let text): return line(text)
    case .call(let call): return "|\(call.name)\(call.arguments)"
    case .likelihood: return "nobody asked for probabilities"
    }
}

func rated(_ piece: Piece) -> String {
    guard case .likelihood(let likelihood) = piece else { return "" }
    let tokens = [likelihood.picked] + likelihood.alternatives
    return "|" + tokens.map { line($0.text) + String(format: "%.3f", $0.logprob) }.joined(separator: "~")
}

func line(_ text: String) -> String {
    text.replacingOccurrences(of: "\n", with: "\\n")
}
