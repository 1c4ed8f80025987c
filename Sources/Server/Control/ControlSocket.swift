import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The control socket in the data directory: one line of JSON in, one line of JSON out. Only the owner may connect
/// (0600), since whoever can open the socket controls the server.
struct ControlSocket: Service {
    /// A line of an import has up to a megabyte, and JSON escapes at most double it.
    static let maxLineByteCount = 4 << 20

    let path: String
    let handle: @Sendable (ControlRequest) async -> ControlResponse
    /// Called once the socket accepts requests.
    let bound: @Sendable () -> Void
    let logger: Logger

    func run() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        bound()
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
                        if line.readableBytes > Self.maxLineByteCount { return }
                        continue
                    }
                    let response: ControlResponse
                    do {
                        let request = try JSONDecoder().decode(ControlRequest.self, from: Data(line.readableBytesView))
                        response = await handle(request)
                    } catch {
                        response = ControlResponse(error: "The request cannot be decoded: \(error)")
                    }
                    var bytes = ByteBuffer(bytes: try JSONEncoder().encode(response))
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
    /// Sends a request to the running server. Returns nil if none listens at `path`.
    package static func send(_ request: ControlRequest, at path: String) async throws -> ControlResponse? {
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
            return try JSONDecoder().decode(ControlResponse.self, from: Data(received.readableBytesView))
        }
    }
}
