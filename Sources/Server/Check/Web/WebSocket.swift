import Crypto
import Foundation

// A WebSocket (RFC 6455), as far as a check needs one.
extension WebConnection {
    /// Asks for a WebSocket; without one the status of the response is not 101.
    mutating func upgrade(_ path: String, at address: WebAddress, protocol name: String? = nil) throws(Failure)
        -> WebResponse
    {
        let key = Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
        let headers = [
            ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", key),
        ]
        try request("GET", path, at: address, headers: headers + (name.map { [("Sec-WebSocket-Protocol", $0)] } ?? []))
        let response = try receiveHead()
        guard response.status != 101 || response.headers["sec-websocket-accept"] == Self.accept(key) else {
            throw .malformed
        }
        return response
    }

    /// Section 4.2.2.
    static func accept(_ key: String) -> String {
        let digest = Insecure.SHA1.hash(data: Data((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        return Data(digest).base64EncodedString()
    }

    func send(text: String) throws(Failure) { try send(Self.frame(Array(text.utf8))) }

    /// A text frame of a client, which masks it (section 5.2).
    static func frame(_ payload: [UInt8]) -> [UInt8] {
        let mask = (0..<4).map { _ in UInt8.random(in: .min ... .max) }
        var frame: [UInt8] = [0x81]
        if payload.count < 126 {
            frame.append(0x80 | UInt8(truncatingIfNeeded: payload.count))
        } else {
            frame += [
                0x80 | 126, UInt8(truncatingIfNeeded: payload.count >> 8), UInt8(truncatingIfNeeded: payload.count),
            ]
        }
        frame += mask
        for (index, byte) in payload.enumerated() { frame.append(byte ^ mask[index % 4]) }
        return frame
    }

    /// Takes the next complete frame of the server (section 5.2), if there is one.
    mutating func nextFrame() throws(Failure) -> (opcode: UInt8, payload: [UInt8])? {
        guard received.count >= 2 else { return nil }
        let (opcode, short) = (received[0] & 0x0F, Int(received[1] & 0x7F))
        // A server does not mask, and what is awaited here is not long.
        guard received[1] & 0x80 == 0, short != 127 else { throw .malformed }
        var (head, length) = (2, short)
        if short == 126 {
            guard received.count >= 4 else { return nil }
            (head, length) = (4, Int(received[2]) << 8 | Int(received[3]))
        }
        guard received.count >= head + length else { return nil }
        _ = take(head)
        return (opcode, take(length))
    }
}
