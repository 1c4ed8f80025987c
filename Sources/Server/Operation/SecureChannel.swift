import HummingbirdCore
import Logging
import NIOCore
import NIOSSL

/// The connections of a port with TLS.
///
/// Hummingbird's own keeps a buffer of each connection as large as the largest write that there was: 256 KiB for a session
/// that has once resumed far behind. Here it is given back with the next write.
struct SecureChannel<Base: ServerChildChannel>: ServerChildChannel {
    typealias Value = Base.Value

    /// Bytes of encrypted output that a connection keeps room for: most frames are smaller.
    private static var keptOutput: Int { 1 << 10 }

    private let base: Base
    private let context: NIOSSLContext

    /// - Throws: `NIOSSLError` for a certificate or key that cannot be used.
    init(_ base: Base, tls: TLSConfiguration) throws {
        self.base = base
        context = try NIOSSLContext(configuration: tls)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            var configuration = NIOSSLHandler.Configuration()
            configuration.maximumPreservedOutboundBufferCapacity = Self.keptOutput
            try channel.pipeline.syncOperations.addHandler(
                NIOSSLServerHandler(context: context, customVerificationCallback: nil, configuration: configuration))
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
