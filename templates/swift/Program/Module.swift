import CEtbuild
import Foundation

/// A method of a program.
///
/// A module may be used by any thread and any task; calls come one after the other.
public final class Module: @unchecked Sendable {
    private let module: OpaquePointer
    private let lock = NSLock()
    private let queue = DispatchQueue(label: "etbuild.Module")

    /// The names of the inputs, in order.
    public let inputs: [String]

    /// Loads a method of a program file, which is mapped.
    ///
    /// - Parameters:
    ///   - program: the program file, `<name>.pte`
    ///   - data: the files with weights, for a program that keeps weights outside the program file
    ///   - method: the name of the method; nil for the method of the recipe
    ///   - threads: the most threads that the model uses; 0 for one per physical core
    public convenience init(contentsOf program: URL, data: [URL] = [], method: String? = nil, threads: Int = 0) throws {
        let texts = Texts()
        let (path, method) = (try texts.copy(program.path), try texts.copy(ifAny: method))
        let files = try texts.paths(data)
        let loaded = withExtendedLifetime(texts) { et_module_load(path, files, files.count, method, threads) }
        try self.init(loaded)
    }

    /// Loads a method from the bytes of a program file, which are copied.
    public convenience init(_ program: Data, data: [URL] = [], method: String? = nil, threads: Int = 0) throws {
        let texts = Texts()
        let (method, files) = (try texts.copy(ifAny: method), try texts.paths(data))
        let loaded = withExtendedLifetime(texts) {
            program.withUnsafeBytes { et_module_load_bytes($0.baseAddress, $0.count, files, files.count, method, threads) }
        }
        try self.init(loaded)
    }

    private init(_ loaded: OpaquePointer?) throws {
        guard let loaded = loaded else { throw EtbuildError.last }
        module = loaded
        inputs = (0..<et_module_input_count(loaded)).map { index in
            et_module_input_name(loaded, index).map { String(cString: $0) } ?? ""
        }
    }

    deinit {
        et_module_free(module)
    }

    /// Executes the method on this thread: a tensor for each input, and a tensor of each output.
    public func execute(_ tensors: [Tensor]) throws -> [Tensor] {
        lock.lock()
        defer { lock.unlock() }
        guard tensors.count == inputs.count else {
            throw EtbuildError("the method has \(inputs.count) inputs, and \(tensors.count) are given")
        }
        for (index, tensor) in tensors.enumerated() {
            try EtbuildError.check(tensor.withTensor { et_module_set_input(module, index, $0) })
        }
        try EtbuildError.check(et_module_execute(module))
        return try (0..<et_module_output_count(module)).map { index in
            var output = et_tensor()
            try EtbuildError.check(et_module_output(module, index, &output))
            return try Tensor(copying: output)
        }
    }

    /// Executes the method on a queue of the module, so that no thread of the caller's tasks waits.
    public func execute(_ tensors: [Tensor]) async throws -> [Tensor] {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.execute(tensors) }) }
        }
    }
}
