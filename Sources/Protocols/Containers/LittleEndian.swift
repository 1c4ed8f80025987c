import Wire

// Ogg and OpusHead are little-endian, unlike network protocols.

extension RawSpan {
    func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type) -> Value? {
        integer(at: offset, as: type)?.byteSwapped
    }

    func begins(with text: StaticString) -> Bool {
        guard byteCount >= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            text.indices.allSatisfy { byte(at: $0) == text[$0] }
        }
    }
}

extension Array where Element == UInt8 {
    mutating func append(littleEndian value: some FixedWidthInteger & BitwiseCopyable) {
        append(bigEndian: value.byteSwapped)
    }
}
