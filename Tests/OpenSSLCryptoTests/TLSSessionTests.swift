import Foundation
import OpenSSLCrypto
import TestSupport
import Testing

@Suite("TLS sessions")
struct TLSSessionTests {
    private func context() throws -> TLSServerContext {
        let files = try TestCertificate.make()
        return try #require(
            TLSServerContext(ServerCertificate(chainFile: files.certificate, keyFile: files.key)))
    }

    /// Gives the session these bytes and returns what it makes of them, and what it sends.
    private func feed(_ session: TLSSession, _ pipe: TLSPipe, _ bytes: [UInt8]) -> (TLSSession.Progress, [UInt8]) {
        var target = [UInt8](repeating: 0, count: 20_000)
        let progress = bytes.withUnsafeBytes { received in
            session.receive(received)
            return target.withUnsafeMutableBytes { session.read(into: $0) }
        }
        return (progress, Array(pipe.outgoing))
    }

    /// A TLS 1.2 ClientHello: ECDHE-ECDSA-AES128-GCM-SHA256, P-256, ECDSA with SHA-256, and these ALPN names.
    private func clientHello(_ protocols: [String] = []) -> [UInt8] {
        func prefixed(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes }
        let names = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        var extensions: [UInt8] = [0, 10] + prefixed(prefixed([0, 23])) + [0, 11] + prefixed([1, 0])
        extensions += [0, 13] + prefixed(prefixed([4, 3]))
        if !protocols.isEmpty { extensions += [0, 16] + prefixed(prefixed(names)) }
        let body: [UInt8] =
            [3, 3] + [UInt8](repeating: 5, count: 32) + [0] + prefixed([0xC0, 0x2B]) + [1, 0] + prefixed(extensions)
        let handshake = [1, 0] + prefixed(body)
        return [0x16, 3, 1] + prefixed(handshake)
    }

    @Test("a ClientHello is answered wherever it is split, and only when it is complete")
    func fragments() throws {
        let context = try context()
        let hello = clientHello()
        for cut in 1..<hello.count {
            let pipe = TLSPipe()
            let session = try #require(TLSSession(context, through: pipe))
            let (first, nothing) = feed(session, pipe, Array(hello[..<cut]))
            #expect(first == .drained)
            #expect(nothing.isEmpty)
            let (second, flight) = feed(session, pipe, Array(hello[cut...]))
            #expect(second == .drained)
            // ServerHello in a handshake record.
            #expect(flight.first == 0x16 && flight.count > 500)
            #expect(!session.isEstablished)
        }
    }

    @Test("input that is not TLS fails with an alert, and the session stays failed")
    func garbage() throws {
        let context = try context()
        let pipe = TLSPipe()
        let broken: [[UInt8]] = [
            [0x16, 3, 1, 0, 5, 9, 9, 9, 9, 9], [0x17, 3, 3, 0, 1, 0], Array("GET / HTTP/1.1\r\n\r\n".utf8),
            [0x16, 3, 1, 0xFF, 0xFF] + [UInt8](repeating: 1, count: 100),
        ]
        for bytes in broken {
            let session = try #require(TLSSession(context, through: pipe))
            #expect(feed(session, pipe, bytes).0 == .failed)
            #expect(feed(session, pipe, clientHello()).0 == .failed)
            let isWritten = [UInt8](repeating: 1, count: 9).withUnsafeBytes { session.write($0) }
            #expect(!isWritten)
        }
        // A record that the client may send, with a version that it may not.
        var hello = clientHello()
        hello[9] = 3
        hello[10] = 1
        let session = try #require(TLSSession(context, through: pipe))
        let (progress, alert) = feed(session, pipe, hello)
        #expect(progress == .failed)
        // protocol_version (RFC 8446 section 6.2).
        #expect(alert.first == 0x15 && alert.last == 70)
    }

    @Test("ALPN accepts TURN and NAT discovery and rejects clients with other protocols")
    func applicationProtocols() throws {
        let context = try context()
        let pipe = TLSPipe()
        for name in TLSServerContext.protocols {
            let session = try #require(TLSSession(context, through: pipe))
            #expect(feed(session, pipe, clientHello(["h2", name])).0 == .drained)
            #expect(session.applicationProtocol == name)
        }
        let session = try #require(TLSSession(context, through: pipe))
        let (progress, alert) = feed(session, pipe, clientHello(["h2", "http/1.1"]))
        #expect(progress == .failed)
        // no_application_protocol (RFC 7301 section 3.2).
        #expect(alert.first == 0x15 && alert.last == 120)
    }

    @Test("a session that never began sends nothing when it is closed")
    func closed() throws {
        let pipe = TLSPipe()
        let session = try #require(TLSSession(try context(), through: pipe))
        session.close()
        #expect(pipe.outgoing.isEmpty)
    }
}
