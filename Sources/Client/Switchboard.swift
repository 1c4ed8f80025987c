public import NIOCore
import NIOHTTP1
import NIOPosix

/// A Switchboard server, as one user on one endpoint sees it: sign in, find people, call and be called.
///
/// Signing in makes no connection by itself. The realtime connection is opened by the first thing that needs it and kept
/// from then on: it is opened again when it breaks, every stream goes on where it was, and requests that were under way
/// are sent again without being done twice. ``close()`` ends everything.
///
/// All functions throw ``SwitchboardError``, and `CancellationError` where their task was cancelled.
public final class Switchboard: Sendable {
    let door: RESTDoor
    let credentials: Credentials
    let realtime: RealtimeEndpoint

    /// Speaks to the server at `address`, such as `https://calls.example.org`.
    ///
    /// - Parameters:
    ///   - address: An `http` or `https` address; a path in it stands before `/v1`.
    ///   - options: How to behave; the defaults suit an app.
    ///   - group: The event loops to run on; nil uses the process's own.
    /// - Throws: ``SwitchboardError/invalidArgument(_:)`` where the address cannot be used.
    public init(
        _ address: String, options: SwitchboardOptions = SwitchboardOptions(), group: (any EventLoopGroup)? = nil
    ) throws {
        let address = try ServerAddress(address)
        let group = group ?? MultiThreadedEventLoopGroup.singleton
        door = RESTDoor(address, options: options, group: group)
        credentials = Credentials(door: door)
        realtime = RealtimeEndpoint(address, options: options, group: group, credentials: credentials)
    }

    deinit {
        Task { [door, realtime] in
            await realtime.stop(.closed)
            await door.close()
        }
    }

    /// Ends the connection and every sequence. The object cannot be used any more.
    public func close() async {
        await realtime.stop(.closed)
        await door.close()
    }

    /// The identity that this process joins calls with. Store it where the app is to take up its calls after a restart.
    public var endpoint: Endpoint { realtime.identity }

    /// Whether there is a connection, now and whenever that changes. Asking opens one.
    public var connectionChanges: AsyncStream<Bool> {
        get async { await realtime.connectionChanges() }
    }

    /// What the server says of itself; needs no sign-in.
    public func serverDescription() async throws -> ServerDescription {
        try await door.ask(.GET, "/v1/server")
    }
}
