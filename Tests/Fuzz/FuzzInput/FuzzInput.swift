/// The bytes of one run, taken from the front: steps of a scenario, and zeros when they are used up.
package struct FuzzInput {
    private var bytes: UnsafeRawBufferPointer.SubSequence

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes[...] }

    package var isEmpty: Bool { bytes.isEmpty }
    package mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    package mutating func take(_ count: Int) -> [UInt8] {
        let taken = Array(bytes.prefix(count))
        bytes = bytes.dropFirst(count)
        return taken
    }
}
