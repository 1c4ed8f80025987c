public import NIOCore
import NIOHTTP1
import NIOPosix

/// A client of a Switchboard server, for one user on one endpoint: sign in, find users, make and receive calls.
///
/// Signing in opens no connection by itself. The first request or stream that needs the realtime connection opens it.
/// When it breaks, it is opened again, streams are resumed, and pending requests are sent again without being carried
/// out twice. ``close()`` ends everything.
///
/// ``incomingCalls``, ``profileChanges``, ``Friends/all``, ``connectionChanges`` and ``tokenChanges`` go on when the user signs out, or is
/// signed out by the server, and for the user who signs in next: read each once, for as long as the app runs. Only
/// ``close()`` ends them. Everything about a call or another user ends with the sign-in.
///
/// All functions throw ``SwitchboardError``, and `CancellationError` if their task was cancelled.
public final class Switchboard: Sendable {
    let rest: RESTClient
    let credentials: Credentials
    let realtime: RealtimeEndpoint

    /// Creates a client for the server at `address`, such as `https://calls.example.org`.
    ///
    /// - Parameters:
    ///   - address: An `http` or `https` URL; its path is prepended to `/v1`.
    ///   - options: The options; the defaults suit an app.
    ///   - group: The event loops to run on; nil uses the process's global ones.
    /// - Throws: ``SwitchboardError/invalidArgument(_:)`` if the address is invalid.
    public init(
        _ address: String, options: SwitchboardOptions = SwitchboardOptions(), group: (any EventLoopGroup)? = nil
    ) throws {
        let address = try ServerAddress(address)
        let group = group ?? MultiThreadedEventLoopGroup.singleton
        rest = RESTClient(address, options: options, group: group)
        credentials = Credentials(rest: rest)
        realtime = RealtimeEndpoint(
            address, options: options, group: group, credentials: credentials, rest: rest)
    }

    deinit {
        Task { [rest, realtime, credentials] in
            await realtime.stop(.closed)
            await credentials.close()
            await rest.close()
        }
    }

    /// Closes the connection and ends all sequences. The object cannot be used after that: its functions throw
    /// ``SwitchboardError/closed``, and new sequences end at once.
    public func close() async {
        await realtime.stop(.closed)
        await credentials.close()
        await rest.close()
    }

    /// The endpoint of this process. Store it if the app should resume its calls after a restart.
    public var endpoint: Endpoint { realtime.identity }

    /// Whether there is a connection: now, then whenever that changes, so no value equals the one before. Opens one.
    ///
    /// It is also `false` while nobody is signed in, and after the server has ended the connection permanently
    /// (``SwitchboardError/disconnected(code:reason:)``): the next request tries again.
    public var connectionChanges: AsyncStream<Bool> {
        get async { await realtime.connectionChanges() }
    }

    /// The server's description; needs no sign-in.
    public func serverDescription() async throws -> ServerDescription {
        try await rest.request(.GET, "/v1/server")
    }
}
