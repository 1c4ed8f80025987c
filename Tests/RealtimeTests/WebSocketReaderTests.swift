import NIOCore
import Testing
import Wire

@testable import Realtime

/// A client's frame: masked, of the shortest length, final, unless a test says otherwise.
func webSocketFrame(
    _ first: UInt8, _ payload: [UInt8], isMasked: Bool = true, lengthBytes: Int? = nil
) -> [UInt8] {
    let mask: UInt8 = isMasked ? 0x80 : 0
    var bytes = [first]
    switch lengthBytes ?? (payload.count < 126 ? 0 : payload.count < 65536 ? 2 : 8) {
    case 0: bytes.append(mask | UInt8(payload.count))
    case 2:
        bytes.append(mask | 126)
        bytes += [UInt8(truncatingIfNeeded: payload.count >> 8), UInt8(truncatingIfNeeded: payload.count)]
    default:
        bytes.append(mask | 127)
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: UInt64(payload.count) >> UInt64(shift)))
        }
    }
    guard isMasked else { return bytes + payload }
    let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
    return bytes + key + payload.enumerated().map { $0.element ^ key[$0.offset % 4] }
}

@Suite("Reading a client's WebSocket")
struct WebSocketReaderTests {
    private func read(_ bytes: [UInt8], limit: Int = 1000) -> Result<[WebSocketEvent], WebSocketCode> {
        var reader = WebSocketReader(limit: limit)
        reader.append(ByteBuffer(bytes: bytes))
        return drain(&reader)
    }

    private func drain(_ reader: inout WebSocketReader) -> Result<[WebSocketEvent], WebSocketCode> {
        var events: [WebSocketEvent] = []
        do {
            while let event = try reader.next() { events.append(event) }
            return .success(events)
        } catch {
            return .failure(error)
        }
    }

    private func expect(
        _ bytes: [UInt8], _ code: WebSocketCode, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard case .failure(let thrown) = read(bytes) else {
            Issue.record("nothing was thrown", sourceLocation: sourceLocation)
            return
        }
        #expect(thrown == code, sourceLocation: sourceLocation)
    }

    @Test("the masked text message of RFC 6455 section 5.7")
    func vector() throws {
        let bytes: [UInt8] = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        #expect(try read(bytes).get() == [.text(Array("Hello".utf8))])
    }

    @Test("messages of every form of length, whole and in fragments, with pings between")
    func lengths() throws {
        for count in [0, 1, 125, 126, 127, 65535, 65536] {
            let text = [UInt8](repeating: UInt8(ascii: "x"), count: count)
            #expect(try read(webSocketFrame(0x81, text), limit: 70000).get() == [.text(text)])
        }
        let fragments =
            webSocketFrame(0x01, Array("Hä".utf8).dropLast()) + webSocketFrame(0x89, [1])
            + webSocketFrame(0x00, [0xA4]) + webSocketFrame(0x8A, []) + webSocketFrame(0x80, Array("!".utf8))
        #expect(
            try read(fragments).get() == [
                .smallFragment, .ping(ByteBuffer(bytes: [1])), .smallFragment, .pong, .text(Array("Hä!".utf8)),
            ])
    }

    @Test("an invalid frame is a protocol error")
    func protocolErrors() {
        let text = Array("x".utf8)
        expect(webSocketFrame(0x81, text, isMasked: false), .protocolError)
        for reserved in [0x40, 0x20, 0x10] as [UInt8] { expect(webSocketFrame(0x81 | reserved, text), .protocolError) }
        for opcode in [3, 4, 5, 6, 7, 0xB, 0xC, 0xD, 0xE, 0xF] as [UInt8] {
            expect(webSocketFrame(0x80 | opcode, []), .protocolError)
        }
        expect(webSocketFrame(0x09, []), .protocolError)
        expect(webSocketFrame(0x89, [UInt8](repeating: 0, count: 126)), .protocolError)
        expect(webSocketFrame(0x80, text), .protocolError)
        expect(webSocketFrame(0x01, text) + webSocketFrame(0x81, text), .protocolError)
        expect(webSocketFrame(0x81, text, lengthBytes: 2), .protocolError)
        expect(webSocketFrame(0x81, [UInt8](repeating: 0x20, count: 300), lengthBytes: 8), .protocolError)
        expect([0x81, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0], .protocolError)
    }

    @Test("invalid UTF-8, oversized and binary messages have their own codes")
    func otherErrors() {
        expect(webSocketFrame(0x81, [0xC3, 0x28]), .invalidPayload)
        expect(webSocketFrame(0x01, [0xC3]) + webSocketFrame(0x80, []), .invalidPayload)
        expect(webSocketFrame(0x81, [0xED, 0xA0, 0x80]), .invalidPayload)
        expect(webSocketFrame(0x82, [1]), .unsupportedData)
        expect(webSocketFrame(0x81, [UInt8](repeating: 0x20, count: 1001)), .messageTooBig)
        // The length alone is enough, and fragments count together.
        expect([0x81, 0xFF, 0, 0, 0, 0x7F, 0, 0, 0, 0], .messageTooBig)
        let half = [UInt8](repeating: 0x20, count: 600)
        expect(webSocketFrame(0x01, half) + webSocketFrame(0x80, half), .messageTooBig)
    }

    @Test("closing")
    func closing() throws {
        #expect(try read(webSocketFrame(0x88, [])).get() == [.close(.normal)])
        #expect(
            try read(webSocketFrame(0x88, [0x03, 0xE9] + Array("bye".utf8))).get() == [.close(.init(number: 1001))])
        #expect(try read(webSocketFrame(0x88, [0x0F, 0xA0])).get() == [.close(.init(number: 4000))])
        expect(webSocketFrame(0x88, [0x03]), .protocolError)
        for code in [0, 999, 1004, 1005, 1006, 1015, 2999, 5000] {
            expect(webSocketFrame(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)]), .protocolError)
        }
        expect(webSocketFrame(0x88, [0x03, 0xE8, 0xFF]), .invalidPayload)
    }

    @Test("bytes may arrive in any chunks")
    func chunks() throws {
        let bytes =
            webSocketFrame(0x81, [UInt8](repeating: 0x41, count: 200)) + webSocketFrame(0x01, Array("a".utf8))
            + webSocketFrame(0x89, [7]) + webSocketFrame(0x80, Array("b".utf8)) + webSocketFrame(0x88, [])
        let whole = try read(bytes).get()
        for seed in 0..<200 as Range<UInt64> {
            var generator = SeededRandom(seed: seed)
            var reader = WebSocketReader(limit: 1000)
            var events: [WebSocketEvent] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let chunk = rest.prefix(Int.random(in: 1...40, using: &generator))
                rest = rest.dropFirst(chunk.count)
                reader.append(ByteBuffer(bytes: chunk))
                events += try drain(&reader).get()
            }
            #expect(events == whole, "seed \(seed)")
        }
    }

    @Test("chunks that always end within a frame do not accumulate")
    func unendingPieces() throws {
        let frame = webSocketFrame(0x81, [UInt8](repeating: 0x41, count: 100))
        var reader = WebSocketReader(limit: 1000)
        reader.append(ByteBuffer(bytes: frame.prefix(50)))
        for _ in 0..<2000 {
            reader.append(ByteBuffer(bytes: frame.dropFirst(50) + frame.prefix(50)))
            #expect(try drain(&reader).get().count == 1)
        }
        #expect(reader.heldByteCount < 4096)
    }

    @Test("any bytes fail or parse")
    func garbage() {
        for seed in 0..<3000 as Range<UInt64> {
            var generator = SeededRandom(seed: seed)
            var bytes = webSocketFrame(0x81, Array("some text".utf8)) + webSocketFrame(0x88, [3, 232])
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
            }
            _ = read(bytes)
        }
    }
}
