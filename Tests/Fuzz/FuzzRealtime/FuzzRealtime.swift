import FuzzInput
import Model
import NIOCore
import Realtime

/// What a client sends over its WebSocket: the frames of RFC 6455, split in any way, and the messages of the protocol
/// in them. The first byte selects one of the two.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRealtime(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(UnsafeRawBufferPointer(start: start, count: count))
    if input.byte() & 1 == 0 {
        let text = input.take(count)
        checkFrame(text)
        checkHello(text)
    } else {
        checkSocket(&input)
    }
    return 0
}

private let resumptions = 3

/// A text is a frame or an error, and a frame is within the limits that the rest of the server relies on.
private func checkFrame(_ text: [UInt8]) {
    let frame: ClientFrame
    do {
        frame = try ClientFrame.parse(text, resumptions: resumptions)
    } catch {
        if let id = error.id, !ClientFrame.ids.contains(id) { fatalError("an id out of bounds") }
        return
    }
    switch frame {
    case .hello(let id, let hello):
        check(id)
        check(hello)
    case .listen(let id, _, let after):
        check(id)
        if let after, after.sequence < 0 { fatalError("a position before the first") }
    case .unlisten(let id, _): check(id)
    case .request(let id, let name, let params):
        check(id)
        if name.isEmpty || name.utf8.count > ClientFrame.maxNameLength { fatalError("a name out of bounds") }
        checkParameters(params)
    case .token(let id, let token):
        check(id)
        if token.utf8.count > ClientFrame.maxTokenLength { fatalError("a token out of bounds") }
    case .heartbeat: break
    }
    let isEqualWithSpace = (try? ClientFrame.parse([0x20] + text + [0x0A], resumptions: resumptions)) == frame
    if !isEqualWithSpace { fatalError("white space changes a frame") }
    // An object ends with its bracket, so no shorter text is an object.
    guard let last = text.lastIndex(of: UInt8(ascii: "}")) else { fatalError("a frame that is no object") }
    if (try? ClientFrame.parse(Array(text[..<last]), resumptions: resumptions)) != nil { fatalError("half a frame") }
}

/// Parameters are passed on as text: they must be one object.
private func checkParameters(_ params: [UInt8]) {
    let again = Array(#"{"id":1,"request":"x","params":"#.utf8) + params + [UInt8(ascii: "}")]
    guard case .request(1, "x", let read)? = try? ClientFrame.parse(again, resumptions: resumptions), read == params
    else { fatalError("parameters that are no object") }
}

private func checkHello(_ text: [UInt8]) {
    guard let hello = try? ClientFrame.parseHello(text, resumptions: resumptions) else { return }
    check(hello)
    let frame = Array(#"{"id":1,"hello":"#.utf8) + text + [UInt8(ascii: "}")]
    guard case .hello(1, hello)? = try? ClientFrame.parse(frame, resumptions: resumptions) else {
        fatalError("the two forms of a hello differ")
    }
}

private func check(_ hello: Hello) {
    if hello.token.isEmpty || hello.token.utf8.count > ClientFrame.maxTokenLength {
        fatalError("a token out of bounds")
    }
    if let secret = hello.secret, secret.utf8.count > 128 { fatalError("a secret out of bounds") }
    if hello.resume.count > resumptions { fatalError("too many streams") }
    if Set(hello.resume.map(\.stream)).count != hello.resume.count { fatalError("a stream twice") }
    if hello.resume.contains(where: { $0.after.sequence < 0 }) { fatalError("a position before the first") }
}

private func check(_ id: Int64) {
    if !ClientFrame.ids.contains(id) { fatalError("an id out of bounds") }
}

/// Bytes mean the same however they are split. The input: a length and so many bytes, repeatedly.
private func checkSocket(_ input: inout FuzzInput) {
    var chunks: [[UInt8]] = []
    while !input.isEmpty {
        let chunk = input.take(Int(input.byte()))
        if !chunk.isEmpty { chunks.append(chunk) }
    }
    let split = events(of: chunks)
    let whole = events(of: [chunks.flatMap { $0 }])
    if split.events != whole.events || split.end != whole.end { fatalError("splitting changes the result") }
    for case .text(let text) in whole.events {
        if text.count > messageLimit { fatalError("a message beyond the limit") }
        if String(validating: text, as: UTF8.self) == nil { fatalError("a text that is none") }
        checkFrame(text)
    }
    for case .ping(let payload) in whole.events where payload.readableBytes > 125 { fatalError("too long a ping") }
}

private let messageLimit = 700

private func events(of chunks: [[UInt8]]) -> (events: [WebSocketEvent], end: WebSocketCode?) {
    var reader = WebSocketReader(limit: messageLimit)
    var events: [WebSocketEvent] = []
    for chunk in chunks {
        reader.append(ByteBuffer(bytes: chunk))
        do {
            while let event = try reader.next() { events.append(event) }
        } catch {
            return (events, error)
        }
    }
    return (events, nil)
}
