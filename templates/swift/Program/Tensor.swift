import CEtbuild
import Foundation

/// The type of the elements of a tensor.
public enum ElementType: Int32, Sendable {
    case uint8 = 0
    case int8 = 1
    case int16 = 2
    case int32 = 3
    case int64 = 4
    case float16 = 5
    case float32 = 6
    case float64 = 7
    case bool = 11
    case bfloat16 = 15

    /// The bytes of an element.
    public var size: Int {
        switch self {
        case .uint8, .int8, .bool: return 1
        case .int16, .float16, .bfloat16: return 2
        case .int32, .float32: return 4
        case .int64, .float64: return 8
        }
    }
}

/// A type of Swift that elements of tensors have. The protocol is for the types of this file alone.
public protocol TensorElement: Sendable {
    static var elementType: ElementType { get }
}

extension UInt8: TensorElement { public static var elementType: ElementType { .uint8 } }
extension Int8: TensorElement { public static var elementType: ElementType { .int8 } }
extension Int16: TensorElement { public static var elementType: ElementType { .int16 } }
extension Int32: TensorElement { public static var elementType: ElementType { .int32 } }
extension Int64: TensorElement { public static var elementType: ElementType { .int64 } }
extension Float: TensorElement { public static var elementType: ElementType { .float32 } }
extension Double: TensorElement { public static var elementType: ElementType { .float64 } }

/// A tensor: a value with a type, a shape and elements.
public struct Tensor: Sendable, Equatable {
    /// The type of the elements.
    public let type: ElementType
    /// The sizes of the dimensions, outermost first.
    public let shape: [Int]
    /// The elements in row-major order and in the byte order of the machine.
    public let bytes: Data

    /// A tensor of these bytes. Throws where shape and type take another number of bytes.
    public init(type: ElementType, shape: [Int], bytes: Data) throws {
        let wanted = Self.size(of: shape, times: type.size)
        guard wanted == bytes.count else {
            throw EtbuildError("a tensor \(shape) of \(type) does not have \(bytes.count) bytes")
        }
        (self.type, self.shape, self.bytes) = (type, shape, bytes)
    }

    /// A tensor with these elements, in row-major order. Throws where the shape has another number of elements.
    public init<Element: TensorElement>(_ elements: [Element], shape: [Int]) throws {
        guard Self.size(of: shape, times: 1) == elements.count else {
            throw EtbuildError("a tensor \(shape) does not have \(elements.count) elements")
        }
        try self.init(type: Element.elementType, shape: shape, bytes: elements.withUnsafeBytes { Data($0) })
    }

    /// The elements in row-major order. Throws where the tensor has another type.
    public func elements<Element: TensorElement>(_: Element.Type = Element.self) throws -> [Element] {
        guard type == Element.elementType else {
            throw EtbuildError("the elements are of \(type), and not of \(Element.elementType)")
        }
        let count = bytes.count / MemoryLayout<Element>.stride
        return [Element](unsafeUninitializedCapacity: count) { elements, filled in
            filled = bytes.copyBytes(to: elements) / MemoryLayout<Element>.stride
        }
    }

    /// The product of the sizes and `size`; nil where a size is negative or the product too large.
    private static func size(of shape: [Int], times size: Int) -> Int? {
        shape.reduce(size) { (product: Int?, next) in
            guard let product = product, next >= 0 else { return nil }
            let (result, isTooLarge) = product.multipliedReportingOverflow(by: next)
            return isTooLarge ? nil : result
        }
    }
}

extension Tensor {
    /// A copy of a tensor of the library.
    init(copying tensor: et_tensor) throws {
        guard let type = ElementType(rawValue: Int32(tensor.type)) else {
            throw EtbuildError("there is no type \(tensor.type) of elements")
        }
        let shape = UnsafeBufferPointer(start: tensor.shape, count: tensor.rank).map(Int.init)
        let bytes = UnsafeRawBufferPointer(start: tensor.data, count: tensor.bytes)
        try self.init(type: type, shape: shape, bytes: Data(bytes))
    }

    /// Calls a function with the tensor as the library takes a tensor.
    func withTensor(_ call: (UnsafePointer<et_tensor>) -> Int32) -> Int32 {
        shape.map(Int64.init).withUnsafeBufferPointer { shape in
            bytes.withUnsafeBytes { bytes in
                var tensor = et_tensor(
                    type: UInt8(type.rawValue), rank: shape.count, shape: shape.baseAddress, data: bytes.baseAddress, bytes: bytes.count)
                return call(&tensor)
            }
        }
    }
}
