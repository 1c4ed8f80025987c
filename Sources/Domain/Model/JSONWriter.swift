/// Writes JSON (RFC 8259) in one pass into a growing buffer.
///
/// Every document that is not encoded from an `Encodable` is written with it, so that nothing is escaped by hand. Call
/// documents are encoded inside the commit transaction, several times in a call's life; `JSONEncoder` builds a tree of
/// boxed values first and takes ten times as long.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    /// Whether the next value needs a comma before it.
    private var follows = false

    package init(capacity: Int = 512) { bytes.reserveCapacity(capacity) }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package mutating func object(_ body: (inout Self) -> Void) {
        separate()
        bytes.append(UInt8(ascii: "{"))
        follows = false
        body(&self)
        bytes.append(UInt8(ascii: "}"))
        follows = true
    }

    package mutating func array<Element>(_ elements: some Sequence<Element>, _ body: (inout Self, Element) -> Void) {
        separate()
        bytes.append(UInt8(ascii: "["))
        follows = false
        for element in elements { body(&self, element) }
        bytes.append(UInt8(ascii: "]"))
        follows = true
    }

    /// Writes a member's name; its value must follow. The name is a constant that needs no escaping.
    package mutating func name(_ name: String) {
        quoted(name)
        bytes.append(UInt8(ascii: ":"))
        follows = false
    }

    /// Writes the name of a member that is not a constant.
    package mutating func name(escaping name: String) {
        write(name)
        bytes.append(UInt8(ascii: ":"))
        follows = false
    }

    package mutating func write(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        Self.escape(text, into: &bytes)
        bytes.append(UInt8(ascii: "\""))
        follows = true
    }

    package mutating func write(_ number: Int64) { write(json: String(number)) }
    package mutating func write(_ value: Bool) { write(json: value ? "true" : "false") }

    /// JSON has no infinities and no NaN: they become 0.
    package mutating func write(_ number: Double) { write(json: number.isFinite ? String(number) : "0") }

    package mutating func write<Entity>(_ identifier: Identifier<Entity>) { quoted(identifier.text) }
    package mutating func write(_ timestamp: Timestamp) { quoted(timestamp.text) }

    /// A value that is JSON already.
    package mutating func write(json: String) {
        separate()
        bytes.append(contentsOf: json.utf8)
        follows = true
    }

    private mutating func separate() {
        if follows { bytes.append(UInt8(ascii: ",")) }
    }

    /// A string that is known to need no escaping.
    private mutating func quoted(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text.utf8)
        bytes.append(UInt8(ascii: "\""))
        follows = true
    }

    /// Appends text as it stands within quotes. RFC 8259 section 7: the quotation mark, the backslash and everything
    /// below U+0020 are escaped.
    package static func escape(_ text: String, into bytes: inout [UInt8]) {
        // `reserveCapacity` allocates exactly what it is asked for: for each of many strings it would copy everything.
        let needed = bytes.count + text.utf8.count + 64
        if needed > bytes.capacity { bytes.reserveCapacity(max(needed, bytes.capacity * 2)) }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x20...: bytes.append(byte)
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            default:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(digit(byte >> 4))
                bytes.append(digit(byte & 0xF))
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

// Members of an object, name and value at once; a nil value omits the member.
extension JSONWriter {
    package mutating func member(_ name: String, _ value: String?) {
        if let value { self.name(name); write(value) }
    }

    package mutating func member(_ name: String, _ value: Bool) { self.name(name); write(value) }
    package mutating func member(_ name: String, _ value: Double) { self.name(name); write(value) }

    package mutating func member(_ name: String, _ value: Int64?) {
        if let value { self.name(name); write(value) }
    }

    package mutating func member(_ name: String, _ value: Timestamp?) {
        if let value { self.name(name); write(value) }
    }

    package mutating func member<Entity>(_ name: String, _ value: Identifier<Entity>?) {
        if let value { self.name(name); write(value) }
    }
}
