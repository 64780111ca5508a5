// Classifies images of 8 x 8 pixels: PROGRAM IMAGES DAMAGED. IMAGES are `float` in the byte order of this machine. Prints a line for each
// image, then what went wrong with calls that are mistakes.
import Etbuild
import Foundation

@main
enum Classify {
    static let shape = [1, 1, 8, 8]

    static func main() async throws {
        let files = CommandLine.arguments.dropFirst().map { URL(fileURLWithPath: $0) }
        let (program, images, damaged) = (files[0], try Data(contentsOf: files[1]), files[2])
        let module = try Module(contentsOf: program, threads: 1)
        precondition(module.inputs == ["x"])
        let size = 4 * shape.reduce(1, *)
        for start in stride(from: 0, to: images.count, by: size) {
            let image = try Tensor(type: .float32, shape: shape, bytes: images[start..<(start + size)])
            let inBackground = try await module.execute([image])
            let here = try onThisThread(module, image)
            precondition(inBackground == here)
            let scores: [Float] = try inBackground[0].elements()
            precondition(inBackground[0].shape == [1, 10] && scores.count == 10)
            print(scores.firstIndex(of: scores.max()!)!)
        }
        try await fromBytes(program, module)
        refused(program, damaged, module)
    }

    static func onThisThread(_ module: Module, _ image: Tensor) throws -> [Tensor] {
        try module.execute([image])
    }

    /// The bytes of a program file compute the same as the file, and tasks may share a module.
    static func fromBytes(_ program: URL, _ module: Module) async throws {
        let copy = try Module(try Data(contentsOf: program), method: "forward")
        let image = try Tensor([Float](repeating: 0.5, count: 64), shape: shape)
        let wanted = try onThisThread(copy, image)
        try await withThrowingTaskGroup(of: [Tensor].self) { group in
            for _ in 0..<16 {
                group.addTask { try await module.execute([image]) }
            }
            for try await found in group {
                precondition(found == wanted)
            }
        }
    }

    static func refused(_ program: URL, _ damaged: URL, _ module: Module) {
        let zeros = [Float](repeating: 0, count: 72)
        let calls: [() throws -> Any] = [
            { try Module(contentsOf: URL(fileURLWithPath: "/nothing/\u{1f600}.pte")) },
            { try Module(contentsOf: damaged) },
            { try Module(contentsOf: program, method: "backward") },
            { try Module(contentsOf: program, threads: 1000) },
            { try Module(contentsOf: program, threads: -1) },
            { try Module(contentsOf: program, method: "for\u{0}ward") },
            { try Module(Data()) },
            { try module.execute([try Tensor([Int64](repeating: 0, count: 64), shape: shape)]) },
            { try module.execute([try Tensor(zeros, shape: [1, 1, 8, 9])]) },
            { try module.execute([]) },
            { try Tensor([1, 2, 3] as [Float], shape: [2, 2]) },
            { try Tensor([Float](), shape: [Int.max, 4]) },
            { try Tensor(zeros, shape: [72]).elements(Int32.self) },
        ]
        for call in calls {
            do {
                print("nothing went wrong: \(try call())")
            } catch {
                print("\(type(of: error)): \(error.localizedDescription)")
            }
        }
    }
}
