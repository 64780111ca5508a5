import CEtbuild
import Foundation

/// What a transcript should be.
public struct Speech: Sendable, Equatable {
    /// The code of the language of the speech, such as `en`; nil for the language that the model hears.
    public var language: String?
    /// Whether the transcript is in English.
    public var translate: Bool
    /// Whether the model ends segments, with times. Of a recording longer than 30 seconds it does in any case.
    public var timestamps: Bool
    /// Whether words have times, for programs with `export.word_timestamps`.
    public var wordTimestamps: Bool
    /// Text that the model takes as the text before, for names and spelling.
    public var prompt: String?

    public init(
        language: String? = nil, translate: Bool = false, timestamps: Bool = false, wordTimestamps: Bool = false,
        prompt: String? = nil
    ) {
        (self.language, self.translate, self.timestamps) = (language, translate, timestamps)
        (self.wordTimestamps, self.prompt) = (wordTimestamps, prompt)
    }
}

/// A word of a transcript, with spaces and punctuation around; times are in seconds.
public struct Word: Sendable, Equatable {
    public let start: Double
    public let end: Double
    public let text: String
}

/// A part of a transcript; times are in seconds. `words` is empty where words have no times.
public struct Segment: Sendable, Equatable {
    public let start: Double
    public let end: Double
    public let text: String
    public let words: [Word]
}

/// A transcript as a whole.
public struct Transcript: Sendable, Equatable {
    /// The code of the language; nil for a model of one language, and where the transcript was broken off.
    public let language: String?
    /// The length of the recording in seconds; 0 where the transcript was broken off.
    public let seconds: Double
    public let ended: Ended
}

extension LanguageModel {
    /// The segments of the transcript of a recording, a part of the kind `sound` or `samples`, as the model finds them.
    public func transcribe(
        _ sound: Part, speech: Speech = Speech(), options: Options? = nil
    ) -> AsyncThrowingStream<Segment, Error> {
        stream { model, see in try model.transcribe(sound, speech: speech, options: options) { see($0) } }
    }

    /// Makes the transcript of a recording on this thread. `see` is told each segment; false ends the transcript.
    @discardableResult
    public func transcribe(
        _ sound: Part, speech: Speech = Speech(), options: Options? = nil, see: (Segment) -> Bool
    ) throws -> Transcript {
        let memory = PartMemory()
        var part = try memory.part(sound)
        var (speech, made) = (try speech.forC(memory), et_transcript())
        try call(options, memory, see) { options, listener in
            et_language_transcribe(model, &part, &speech, options, segmentHeard, listener, &made)
        }
        let language = withUnsafeBytes(of: made.language) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return Transcript(
            language: language.isEmpty ? nil : language, seconds: made.seconds,
            ended: Ended(rawValue: made.ended) ?? .stopped)
    }
}

extension Speech {
    func forC(_ texts: Texts) throws -> et_speech {
        et_speech(
            language: try texts.copy(ifAny: language), task: translate ? 1 : 0, timestamps: timestamps,
            word_timestamps: wordTimestamps, prompt: try texts.copy(ifAny: prompt))
    }
}

/// Tells a listener a segment.
private let segmentHeard: et_segment_function = { context, segment in
    guard let context = context, let segment = segment?.pointee else { return false }
    let text = { (start: UnsafePointer<CChar>?, size: Int) in
        String(decoding: UnsafeRawBufferPointer(start: start, count: size), as: UTF8.self)
    }
    let words = UnsafeBufferPointer(start: segment.words, count: segment.word_count).map { word in
        Word(start: word.start, end: word.end, text: text(word.text, word.size))
    }
    let whole = text(segment.text, segment.size)
    return Listener<Segment>.of(context)(Segment(start: segment.start, end: segment.end, text: whole, words: words))
}
