package import Wire

/// Builds one message after another in a reused buffer.
///
/// The length field is correct after every call, so the message can be sent at any time; integrity and fingerprint come
/// last, in the order of RFC 8489 section 14.
package struct MessageWriter: ~Copyable {
    package private(set) var bytes: [UInt8] = []
    private var transaction = TransactionID(0, 0)

    package init() {
        bytes.reserveCapacity(512)
    }

    package mutating func begin(_ type: MessageType, _ transaction: TransactionID) {
        bytes.removeAll(keepingCapacity: true)
        self.transaction = transaction
        bytes.append(bigEndian: type.bits)
        bytes.append(bigEndian: UInt16(0))
        bytes.append(bigEndian: Message.magicCookie)
        bytes.append(bigEndian: transaction.first)
        bytes.append(bigEndian: transaction.rest)
    }

    package mutating func append(_ type: AttributeType, _ value: RawSpan) {
        guard beginAttribute(type, byteCount: value.byteCount) else { return }
        bytes.append(value)
        pad()
    }

    package mutating func append(_ type: AttributeType, bytes value: [UInt8]) {
        append(type, value.span.bytes)
    }

    package mutating func append(_ type: AttributeType, text: String) {
        append(type, bytes: Array(text.utf8))
    }

    package mutating func append(_ type: AttributeType, integer value: some FixedWidthInteger & BitwiseCopyable) {
        guard beginAttribute(type, byteCount: value.bitWidth / 8) else { return }
        bytes.append(bigEndian: value)
        pad()
    }

    package mutating func append(_ type: AttributeType, xor address: TransportAddress) {
        guard beginAttribute(type, byteCount: 4 + address.address.byteCount) else { return }
        bytes.append(0)
        bytes.append(address.address.family.rawValue)
        bytes.append(bigEndian: address.port ^ 0x2112)
        switch address.address.family {
        case .ipv4:
            bytes.append(bigEndian: address.address.ipv4 ^ Message.magicCookie)
        case .ipv6:
            bytes.append(bigEndian: address.address.high ^ transaction.xorHigh)
            bytes.append(bigEndian: address.address.low ^ transaction.rest)
        }
        setLength()
    }

    /// An address without XOR (RFC 8489 section 14.1), for ALTERNATE-SERVER and RFC 5780's attributes.
    package mutating func append(_ type: AttributeType, address: TransportAddress) {
        guard beginAttribute(type, byteCount: 4 + address.address.byteCount) else { return }
        bytes.append(0)
        bytes.append(address.address.family.rawValue)
        bytes.append(bigEndian: address.port)
        bytes.append(address.address)
        setLength()
    }

    ///     |           Reserved            |  Type (7)   |    Code (9)     |      RFC 8656 section 18.13
    ///     |                          Error Data                           |
    package mutating func append(icmpType: UInt8, code: UInt8, errorData: UInt32) {
        guard beginAttribute(.icmp, byteCount: 8) else { return }
        bytes.append(bigEndian: UInt16(0))
        bytes.append(bigEndian: UInt16(icmpType & 0x7F) << 9 | UInt16(code))
        bytes.append(bigEndian: errorData)
        setLength()
    }

    ///     |         Reserved, should be 0         |Class|     Number    |      RFC 8489 section 14.8
    ///
    /// In ADDRESS-ERROR-CODE the first byte is the address family (RFC 8656 section 18.10).
    package mutating func append(error: ErrorCode) {
        append(.errorCode, error, reason: error.reason.text, family: 0)
    }

    /// An error without its reason phrase, which is only for people, where a response should be short.
    package mutating func append(bareError error: ErrorCode) {
        append(.errorCode, error, reason: "", family: 0)
    }

    package mutating func append(error: ErrorCode, of family: IPAddress.Family) {
        append(.addressErrorCode, error, reason: error.reason.text, family: family.rawValue)
    }

    private mutating func append(_ type: AttributeType, _ error: ErrorCode, reason: String, family: UInt8) {
        let reason = Array(reason.utf8)
        guard beginAttribute(type, byteCount: 4 + reason.count) else { return }
        bytes.append(family)
        bytes.append(0)
        bytes.append(UInt8(truncatingIfNeeded: error.number / 100))
        bytes.append(UInt8(truncatingIfNeeded: error.number % 100))
        bytes += reason
        pad()
    }

    package mutating func append(unknown types: [AttributeType]) {
        guard beginAttribute(.unknownAttributes, byteCount: types.count * 2) else { return }
        for type in types {
            bytes.append(bigEndian: type.rawValue)
        }
        pad()
    }

    /// Appends MESSAGE-INTEGRITY or MESSAGE-INTEGRITY-SHA256; false when the library failed, and then the message must
    /// not be sent.
    package mutating func appendIntegrity(
        _ algorithm: IntegrityAlgorithm, key: RawSpan, _ authentication: some MessageAuthentication
    ) -> Bool {
        let covered = bytes.count
        guard beginAttribute(algorithm.attribute, byteCount: algorithm.function.byteCount) else { return false }
        bytes += [UInt8](repeating: 0, count: algorithm.function.byteCount)
        setLength()
        guard
            let code = authentication.code(
                algorithm.function, key: key, bytes.span.bytes.extracting(0..<covered))
        else { return false }
        code.withBytes { code in
            for offset in 0..<min(code.byteCount, bytes.count - covered - 4) {
                bytes[covered + 4 + offset] = code.byte(at: offset) ?? 0
            }
        }
        return true
    }

    package mutating func appendFingerprint() {
        let covered = bytes.count
        guard beginAttribute(.fingerprint, byteCount: 4) else { return }
        bytes.append(bigEndian: UInt32(0))
        setLength()
        let value = Fingerprint.value(of: bytes.span.bytes.extracting(0..<covered))
        bytes.removeLast(4)
        bytes.append(bigEndian: value)
    }

    /// Writes type and length; false, and nothing written, when the message would exceed its 16-bit length.
    private mutating func beginAttribute(_ type: AttributeType, byteCount: Int) -> Bool {
        guard let size = UInt16(exactly: byteCount), bytes.count >= Message.headerByteCount,
            bytes.count + byteCount + 8 < Int(UInt16.max)
        else { return false }
        bytes.append(bigEndian: type.rawValue)
        bytes.append(bigEndian: size)
        return true
    }

    private mutating func pad() {
        while bytes.count & 3 != 0 { bytes.append(0) }
        setLength()
    }

    private mutating func setLength() {
        let length = UInt16(truncatingIfNeeded: bytes.count - Message.headerByteCount)
        bytes[2] = UInt8(truncatingIfNeeded: length >> 8)
        bytes[3] = UInt8(truncatingIfNeeded: length)
    }
}
