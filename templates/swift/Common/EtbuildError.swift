import CEtbuild
import Foundation

/// A failure of a model, with the message of the command: a damaged file, an input of another shape, a text longer than the context.
public struct EtbuildError: LocalizedError, Sendable, CustomStringConvertible {
    /// What went wrong.
    public let message: String

    public var description: String { message }
    public var errorDescription: String? { message }

    init(_ message: String) {
        self.message = message
    }

    /// What went wrong last on this thread.
    static var last: EtbuildError {
        EtbuildError(et_error_message().map { String(cString: $0) } ?? "an unknown failure")
    }

    static func check(_ status: Int32) throws {
        if status != 0 {
            throw last
        }
    }
}

/// Texts and arrays for C, which live as long as the object.
class Texts {
    private var copies: [UnsafeMutableRawPointer] = []

    func copy(_ text: String) throws -> UnsafePointer<CChar> {
        if text.utf8.contains(0) {
            throw EtbuildError("a text contains a zero character")
        }
        guard let copy = strdup(text) else {
            throw EtbuildError("there is no memory for a text")
        }
        copies.append(copy)
        return UnsafePointer(copy)
    }

    /// The elements of an array; nil for none.
    func copy<Element>(_ elements: [Element]) throws -> UnsafePointer<Element>? {
        if elements.isEmpty {
            return nil
        }
        let bytes = elements.count * MemoryLayout<Element>.stride
        guard let copy = malloc(bytes) else {
            throw EtbuildError("there is no memory for an array")
        }
        copies.append(copy)
        elements.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress!, byteCount: bytes) }
        return UnsafePointer(copy.assumingMemoryBound(to: Element.self))
    }

    func copy(ifAny text: String?) throws -> UnsafePointer<CChar>? {
        try text.map(copy)
    }

    func paths(_ files: [URL]) throws -> [UnsafePointer<CChar>?] {
        try files.map { try copy($0.path) }
    }

    deinit {
        copies.forEach { free($0) }
    }
}
