import HTTPTestSupport
import Model
import NIOSSL
import Synchronization
import TestSupport

/// A push service over TLS.
enum PushServiceServer {
    /// - Parameter body: with its address, the file of its authority, and what it was asked.
    static func run(
        _ script: @escaping ScriptedServer.Script, _ body: (String, String, ScriptedServer) async throws -> Void
    ) async throws {
        let files = try TestCertificate.make()
        let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
        let key = try NIOSSLPrivateKey(file: files.key, format: .pem)
        let encryption = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key)))
        try await ScriptedServer.run(encryption: encryption, script) { address, server in
            try await body(address, files.certificate, server)
        }
    }
}

/// Time that a test sets.
final class TestClock: Sendable {
    private let time = Mutex(Timestamp(milliseconds: 1_800_000_000_000))
    var now: Timestamp { time.withLock { $0 } }
    func advance(seconds: Int64) { time.withLock { $0 = $0.adding(seconds: seconds) } }
}
