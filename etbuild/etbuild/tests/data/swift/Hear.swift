// Makes the transcript of a recording: PROGRAM SOUND LANGUAGE. Prints the segments. A sound that ends in `.samples` is given as samples of 16 bits,
// 16,000 a second.
import Etbuild
import Foundation

@main
enum Hear {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let model = try LanguageModel(contentsOf: URL(fileURLWithPath: arguments[1]))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: arguments[2]))
        let sound = arguments[2].hasSuffix(".samples") ? Part.samples(samples(bytes), rate: 16_000) : .sound(bytes)
        let speech = Speech(language: arguments[3], timestamps: true)
        var options = model.options
        options.maxNewTokens = 50
        var segments: [Segment] = []
        for try await segment in model.transcribe(sound, speech: speech, options: options) {
            segments.append(segment)
            print("[\(segment.start)] \(segment.text)")
        }
        precondition(zip(segments, segments.dropFirst()).allSatisfy { $0.end <= $1.start })
        var again: [Segment] = []
        let transcript = try model.transcribe(sound, speech: speech, options: options) { segment in
            again.append(segment)
            return true
        }
        precondition(again == segments && transcript.language == arguments[3] && transcript.seconds > 0)
        let broken = try model.transcribe(sound, speech: speech, options: options) { _ in false }
        precondition(segments.isEmpty || broken.ended == .brokenOff)
    }

    static func samples(_ bytes: Data) -> [Float] {
        let low = stride(from: 0, to: bytes.count, by: 2)
        return low.map { Float(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32768 }
    }
}
