// All integers of packets are loaded here, in network order, checked against the end of the packet.

extension RawSpan {
    /// The byte at `offset`, or nil beyond the end.
    @inlinable
    package func byte(at offset: Int) -> UInt8? {
        guard offset >= 0, offset < byteCount else { return nil }
        return unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    /// The big-endian integer at `offset`, or nil when it does not fit.
    @inlinable
    package func integer<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type) -> Value? {
        guard offset >= 0, byteCount >= MemoryLayout<Value>.size, offset <= byteCount &- MemoryLayout<Value>.size else {
            return nil
        }
        return Value(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: type))
    }

    /// The bytes of `range`, or nil when it does not lie within.
    @inlinable
    @_lifetime(copy self)
    package func part(_ range: Range<Int>) -> RawSpan? {
        guard range.lowerBound >= 0, range.upperBound <= byteCount else { return nil }
        return extracting(range)
    }

    /// Compares bytes in constant time, for MACs and passwords.
    package func equalsInConstantTime(_ other: RawSpan) -> Bool {
        guard byteCount == other.byteCount else { return false }
        var difference: UInt8 = 0
        for offset in 0..<byteCount {
            difference |=
                unsafeLoad(fromByteOffset: offset, as: UInt8.self)
                ^ other.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        }
        return difference == 0
    }

    package func copyToArray() -> [UInt8] {
        withUnsafeBytes { Array($0) }
    }
}

extension IPAddress {
    /// The address with these 4 or 16 bytes, nil for any other length.
    package init?(bytes: RawSpan) {
        if bytes.byteCount == 4, let value = bytes.integer(at: 0, as: UInt32.self) {
            self.init(ipv4: value)
        } else if bytes.byteCount == 16, let high = bytes.integer(at: 0, as: UInt64.self),
            let low = bytes.integer(at: 8, as: UInt64.self)
        {
            self.init(ipv6High: high, low: low)
        } else {
            return nil
        }
    }
}

extension Array where Element == UInt8 {
    /// Appends an integer in network order.
    @inlinable
    package mutating func append(bigEndian value: some FixedWidthInteger & BitwiseCopyable) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    package mutating func append(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { append(contentsOf: $0) }
    }

    /// The address in network order, 4 or 16 bytes.
    package mutating func append(_ address: IPAddress) {
        switch address.family {
        case .ipv4: append(bigEndian: address.ipv4)
        case .ipv6:
            append(bigEndian: address.high)
            append(bigEndian: address.low)
        }
    }
}

extension MutableRawSpan {
    /// Stores an integer in network order. Does nothing when it does not fit: callers check the size first.
    @inlinable
    package mutating func store<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
        guard offset >= 0, byteCount >= MemoryLayout<Value>.size, offset <= byteCount &- MemoryLayout<Value>.size else {
            return
        }
        storeBytes(of: value.bigEndian, toByteOffset: offset, as: Value.self)
    }

    /// Copies bytes to `offset`; false, and nothing copied, when they do not fit.
    @discardableResult
    package mutating func store(_ source: RawSpan, at offset: Int) -> Bool {
        guard offset >= 0, source.byteCount <= byteCount, offset <= byteCount &- source.byteCount else { return false }
        guard source.byteCount > 0 else { return true }
        withUnsafeMutableBytes { target in
            source.withUnsafeBytes { source in
                UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset &+ source.count]).copyMemory(
                    from: source)
            }
        }
        return true
    }

    /// Moves the bytes of `range` to `offset`, where they may overlap; false, and nothing moved, when they do not fit.
    @discardableResult
    package mutating func move(_ range: Range<Int>, to offset: Int) -> Bool {
        guard range.lowerBound >= 0, range.upperBound <= byteCount, offset >= 0, offset <= byteCount &- range.count
        else {
            return false
        }
        guard !range.isEmpty else { return true }
        withUnsafeMutableBytes { bytes in
            UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset &+ range.count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
        return true
    }
}
