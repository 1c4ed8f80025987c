import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The control socket in the data directory: one line of JSON in, one line of JSON out. Who may open the directory may
/// command the server, so the socket is for the owner alone (0600).
struct ControlSocket: Service {
    static let longestLine = 1 << 20

    let path: String
    let answer: @Sendable (ControlRequest) async -> ControlAnswer
    let logger: Logger

    func run() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        try await cancelWhenGracefulShutdown {
            try await server.executeThenClose { connections in
                await withDiscardingTaskGroup { group in
                    do {
                        for try await connection in connections {
                            group.addTask { await serve(connection) }
                        }
                    } catch {
                        logger.debug("control socket closed", metadata: ["error": "\(error)"])
                    }
                }
            }
        }
        try? FileManager.default.removeItem(atPath: path)
    }

    private func serve(_ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>) async {
        do {
            try await connection.executeThenClose { inbound, outbound in
                var line = ByteBuffer()
                for try await part in inbound {
                    line.writeImmutableBuffer(part)
                    guard line.readableBytesView.last == UInt8(ascii: "\n") else {
                        if line.readableBytes > Self.longestLine { return }
                        continue
                    }
                    let reply: ControlAnswer
                    do {
                        let request = try JSONDecoder().decode(ControlRequest.self, from: Data(line.readableBytesView))
                        reply = await answer(request)
                    } catch {
                        reply = ControlAnswer(error: "The request was not understood: \(error)")
                    }
                    var bytes = ByteBuffer(bytes: try JSONEncoder().encode(reply))
                    bytes.writeString("\n")
                    try await outbound.write(bytes)
                    line.clear()
                }
            }
        } catch {
            logger.debug("control connection ended", metadata: ["error": "\(error)"])
        }
    }
}

/// The tool's end of the control socket.
package enum ControlClient {
    /// Asks the running server, or returns nil when none answers at `path`.
    package static func ask(_ request: ControlRequest, at path: String) async throws -> ControlAnswer? {
        let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>
        do {
            channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(unixDomainSocketPath: path) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                    }
                }
        } catch {
            return nil
        }
        return try await channel.executeThenClose { inbound, outbound in
            var line = ByteBuffer(bytes: try JSONEncoder().encode(request))
            line.writeString("\n")
            try await outbound.write(line)
            var received = ByteBuffer()
            for try await part in inbound {
                received.writeImmutableBuffer(part)
                if received.readableBytesView.last == UInt8(ascii: "\n") { break }
            }
            return try JSONDecoder().decode(ControlAnswer.self, from: Data(received.readableBytesView))
        }
    }
}
