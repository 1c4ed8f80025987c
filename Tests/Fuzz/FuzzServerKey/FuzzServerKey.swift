import Accounts
import Model

/// Keys and references of any bytes: a key that was read is its id, its secret and a checksum that matches, and differs
/// from every other in a single byte; a user's reference is a UUID or an id of the allowed bytes. The same bytes are
/// also read as a lifetime and as scopes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzServerKey(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let text = String(decoding: bytes, as: UTF8.self)
    checkKey(text)
    if let completed = completed(bytes) { checkKey(completed) }
    checkReference(text)
    if let seconds = try? ServerKeyRules.lifetime(text), !(1...3650 * 86_400).contains(seconds) {
        fatalError("a lifetime out of bounds")
    }
    if let scopes = try? ServerKeyRules.scopes([text]), scopes.isEmpty { fatalError("no scope") }
    return 0
}

private func checkKey(_ text: String) {
    guard let key = try? ServerKey(text) else { return }
    if key.text != text || text.utf8.count != ServerKey.length { fatalError("another key") }
    if !text.hasPrefix("sbk_\(key.id.text)_") { fatalError("another id") }
    if key.description.utf8.count >= text.utf8.count { fatalError("the description has the secret") }
    // CRC-32 finds every change of a single byte.
    for index in 21..<64 {
        var other = Array(text.utf8)
        other[index] = other[index] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
        if (try? ServerKey(String(decoding: other, as: UTF8.self))) != nil { fatalError("a checksum that matches") }
    }
}

/// A key made with the input as random numbers.
private func completed(_ bytes: [UInt8]) -> String? {
    guard !bytes.isEmpty else { return nil }
    var generator = InputGenerator(bytes: bytes)
    let key = ServerKey.make(using: &generator)
    if (try? ServerKey(key.text)) != key { fatalError("a key that cannot be read") }
    return key.text
}

private func checkReference(_ text: String) {
    guard let reference = try? UserReference(text, field: "user") else { return }
    switch reference {
    case .id(let id): if UserID(text) != id { fatalError("another user") }
    case .external(let id):
        if id.isEmpty || id.utf8.count > UserReference.maxLength { fatalError("too long") }
        if id.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F || $0 == UInt8(ascii: "/") }) { fatalError("a byte") }
    }
}

/// Repeats the input; what is left over mixes in a counter, so that no rejection sampling goes on for ever.
private struct InputGenerator: RandomNumberGenerator {
    let bytes: [UInt8]
    private var position: UInt64 = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() -> UInt64 {
        var value: UInt64 = 0
        for _ in 0..<8 {
            value = value << 8 | UInt64(bytes[Int(position % UInt64(bytes.count))])
            position &+= 1
        }
        return value ^ (position &* 0x9E37_79B9_7F4A_7C15)
    }
}
