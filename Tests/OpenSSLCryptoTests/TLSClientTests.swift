import OpenSSLCrypto
import TestSupport
import Testing

@Suite("TLS clients")
struct TLSClientTests {
    /// One end: a session, its pipe, and what it has read.
    private final class End {
        let pipe = TLSPipe()
        private(set) var session: TLSSession?
        private(set) var plaintext: [UInt8] = []
        private(set) var last = TLSSession.Progress.drained

        init(_ make: (TLSPipe) -> TLSSession?) throws {
            let made: TLSSession = try #require(make(pipe))
            session = made
        }

        /// Takes bytes in and returns what is to be sent.
        func take(_ bytes: [UInt8]) -> [UInt8] {
            guard let session else { return [] }
            var target = [UInt8](repeating: 0, count: 20_000)
            bytes.withUnsafeBytes { received in
                session.receive(received)
                repeat {
                    last = target.withUnsafeMutableBytes { session.read(into: $0) }
                    if case .plaintext(let count) = last { plaintext += target.prefix(count) }
                } while last != .drained && last != .failed && last != .closed
            }
            return Array(pipe.outgoing)
        }

        func send(_ bytes: [UInt8]) -> [UInt8] {
            let isWritten = bytes.withUnsafeBytes { session?.write($0) }
            return isWritten == true ? Array(pipe.outgoing) : []
        }
    }

    /// Carries flights from one to the other until both are silent.
    private func converse(_ client: End, _ server: End) {
        var flight = client.take([])
        while !flight.isEmpty {
            let reply = server.take(flight)
            flight = reply.isEmpty ? [] : client.take(reply)
        }
    }

    private func ends(authorities: String?, name: String?, _ files: TestCertificate) throws -> (End, End) {
        let clients = try #require(TLSClientContext(authorities: authorities))
        let servers = try #require(
            TLSServerContext(ServerCertificate(chainFile: files.certificate, keyFile: files.key)))
        return (
            try End { TLSSession(clients, name: name, through: $0) }, try End { TLSSession(servers, through: $0) }
        )
    }

    @Test("a client and a server exchange data in both directions")
    func conversation() throws {
        let files = try TestCertificate.make()
        for authorities in [files.certificate, nil] {
            let (client, server) = try ends(
                authorities: authorities, name: authorities == nil ? nil : "localhost", files)
            converse(client, server)
            #expect(client.session?.isEstablished == true && server.session?.isEstablished == true)
            // More than a record of 16 KB.
            let large = (0..<40_000).map { UInt8(truncatingIfNeeded: $0) }
            _ = server.take(client.send(Array("to the server".utf8)))
            _ = client.take(server.send(large))
            #expect(server.plaintext == Array("to the server".utf8))
            #expect(client.plaintext == large)
        }
    }

    @Test("a client with CAs rejects a certificate of another CA, and one for another name")
    func distrust() throws {
        let files = try TestCertificate.make()
        let others = try TestCertificate.make()
        for (authority, name) in [(others.certificate, "localhost"), (files.certificate, "elsewhere.example.org")] {
            let (client, server) = try ends(authorities: authority, name: name, files)
            converse(client, server)
            #expect(client.last == .failed)
            #expect(client.session?.isEstablished == false)
            #expect(server.plaintext.isEmpty)
        }
    }

    @Test("a file without CAs makes no context")
    func noAuthorities() throws {
        #expect(TLSClientContext(authorities: "/nonexistent/authorities.pem") == nil)
        #expect(TLSClientContext(authorities: try TestCertificate.make().key) == nil)
    }
}
