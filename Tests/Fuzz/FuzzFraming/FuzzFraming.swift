import TURN
import Wire

/// User names of any bytes: a scope that was read is written as it was.
///
/// A stream of any bytes, split anywhere: where its messages end does not depend on the splits, nothing ends beyond the
/// bytes at hand or is larger than a connection's buffer, and a verdict once given does not change when more bytes
/// come.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFraming(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    checkFrames(input)
    checkProxyHeader(input)
    checkOpening(input)
    checkName(input)
    return 0
}

private func checkName(_ input: UnsafeRawBufferPointer) {
    let text = String(decoding: input, as: UTF8.self)
    guard let name = EphemeralName(text) else { return }
    if name.expiresAt < 0 || (name.scope == nil) != (name.issuedAt == nil) { fatalError("half a scope") }
    guard let scope = name.scope, let issued = name.issuedAt else { return }
    let written = EphemeralCredential.username(
        user: name.user, scope: scope, expiresAt: name.expiresAt, issuedAt: issued)
    if EphemeralName(written) != name { fatalError("another name") }
}

private func checkFrames(_ input: UnsafeRawBufferPointer) {
    var begin = 0
    while begin < input.count {
        let rest = UnsafeRawBufferPointer(rebasing: input[begin...])
        let whole = StreamFraming.next(rest.bytes)
        for length in 0..<min(rest.count, 24) {
            let part = UnsafeRawBufferPointer(rebasing: rest[..<length])
            switch (StreamFraming.next(part.bytes), whole) {
            case (.frame(let early), .frame(let late)): if early != late { fatalError("a frame that grows") }
            case (.frame, _): fatalError("a frame that more bytes undo")
            case (.malformed, .malformed): break
            case (.malformed, _): fatalError("a rejection that more bytes undo")
            case (.incomplete(let byteCount), .frame(let late)):
                if byteCount > late { fatalError("it expects too much") }
            case (.incomplete(let byteCount), _):
                if byteCount <= length || byteCount > StreamFraming.maximumByteCount {
                    fatalError("it waits for nothing")
                }
            }
        }
        guard case .frame(let size) = whole else { return }
        if size <= 0 || size > rest.count || size > StreamFraming.maximumByteCount { fatalError("no such frame") }
        begin += size
    }
}

private func checkProxyHeader(_ input: UnsafeRawBufferPointer) {
    let whole = ProxyHeader(input.bytes)
    if case .whole(let size, _) = whole, size > min(input.count, ProxyHeader.maximumByteCount) {
        fatalError("a header beyond the bytes")
    }
    for length in 0..<min(input.count, 64) {
        let part = ProxyHeader(UnsafeRawBufferPointer(rebasing: input[..<length]).bytes)
        if part != .incomplete, part != whole { fatalError("a header that changes with its length") }
    }
}

private func checkOpening(_ input: UnsafeRawBufferPointer) {
    let whole = DetectedProtocol(input.bytes)
    for length in 0..<min(input.count, 16) {
        let part = DetectedProtocol(UnsafeRawBufferPointer(rebasing: input[..<length]).bytes)
        if part == .unknown, whole != .unknown { fatalError("a rejection that more bytes undo") }
        if part == .turn, whole != .turn { fatalError("an opening that changes") }
    }
}
