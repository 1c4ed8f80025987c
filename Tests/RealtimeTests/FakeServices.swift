import Bus
import Model
import Synchronization

@testable import Realtime

/// The rest of the server in a few lines: a log for each stream, users whose tokens are their names, and requests that
/// write to a stream.
final class FakeServices: Sendable {
    struct State {
        var logs: [StreamName: [Change]] = [:]
        var secrets: [EndpointID: String] = [:]
        var denied: Set<StreamName> = []
        var attached: [EndpointID] = []
        var detached: [EndpointID] = []
        var opened = 0
        /// How many `listen` and `unlisten` are admitted.
        var listensLeft = Int.max
        var revoked: Set<UserID> = []
        var revokedSignIns: Set<SignInID> = []
        /// While it is set, verifications of endpoints and newer tokens wait, and are counted here.
        var held: [CheckedContinuation<Void, Never>]?
        /// Addresses from which there were too many requests.
        var refused: Set<String> = []
    }

    let state = Mutex(State())
    let bus = InProcessBus()
    private let publishing = Mutex(())

    var services: RealtimeServices {
        RealtimeServices(authenticator: self, source: self, handler: self, observer: self)
    }

    /// Commits a change and publishes it, in the order of the commits.
    @discardableResult
    func commit(_ stream: StreamName, _ data: String = "{}") -> Position {
        publishing.withLock { _ in
            let change = state.withLock { state in
                let position = Position(epoch: "e1", sequence: Int64(state.logs[stream]?.count ?? 0) + 1)
                let change = Change(stream: stream, position: position, type: "call", data: data)
                state.logs[stream, default: []].append(change)
                return change
            }
            bus.publish([change])
            return change.position
        }
    }
}

// Holding authentications.
extension FakeServices {
    func hold() { state.withLock { $0.held = [] } }

    var heldCount: Int { state.withLock { $0.held?.count ?? 0 } }

    func release() {
        let held = state.withLock { state in
            defer { state.held = nil }
            return state.held ?? []
        }
        for continuation in held { continuation.resume() }
    }

    private func waitWhileHeld() async {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                state.held?.append(continuation)
                return state.held != nil
            }
            if !isHeld { continuation.resume() }
        }
    }
}

extension FakeServices: RealtimeAuthenticator {
    func checkNotRevoked(_ principal: Principal) throws {
        try state.withLock { state in
            if state.revoked.contains(principal.user) { throw Problem(.forbidden, "The account is disabled.") }
            if let signIn = principal.signIn, state.revokedSignIns.contains(signIn) {
                throw Problem(.unauthenticated, "The session has ended.")
            }
        }
    }

    func authenticate(token: String) async throws -> (principal: Principal, expiresAt: Timestamp) {
        // A token that is a user's second one: the same user with another sign-in.
        if token.hasPrefix("newer-"), let number = Int(token.dropFirst(6)) {
            await waitWhileHeld()
            return (
                Principal(user: identifier(number), signIn: identifier(number + 600)), morning.adding(seconds: 900)
            )
        }
        let parts = token.split(separator: "-").map(String.init)
        guard parts.count == 2, parts[0] == "user", let number = Int(parts[1]) else {
            throw Problem(.unauthenticated, "The access token is not good.", field: "token")
        }
        return (Principal(user: identifier(number), signIn: identifier(number + 500)), morning.adding(seconds: 900))
    }

    func admit(from origin: SessionOrigin) throws {
        if state.withLock({ $0.refused.contains(origin.address) }) {
            throw Problem(.rateLimited, "That was too often.", retryAfter: 1000)
        }
    }

    func admit(_ hello: Hello) async throws -> (principal: Principal, expiresAt: Timestamp, grant: EndpointGrant) {
        let (principal, expiresAt) = try await authenticate(token: hello.token)
        return (principal, expiresAt, try await grant(hello.endpoint, secret: hello.secret))
    }

    func admitListen(_ principal: Principal) throws(Problem) {
        let isAdmitted = state.withLock { state in
            state.listensLeft -= 1
            return state.listensLeft >= 0
        }
        guard isAdmitted else { throw Problem(.rateLimited, "That was too often.", retryAfter: 1000) }
    }

    private func grant(_ id: EndpointID?, secret: String?) async throws -> EndpointGrant {
        await waitWhileHeld()
        return try state.withLock { state in
            guard let id else {
                let made = EndpointID.make(at: morning)
                state.secrets[made] = "made"
                return EndpointGrant(endpoint: made, newSecret: "made")
            }
            if let known = state.secrets[id], known != secret {
                throw Problem(.forbidden, "This is not the endpoint's secret.", field: "secret")
            }
            state.secrets[id] = secret
            return EndpointGrant(endpoint: id)
        }
    }
}

extension FakeServices: StreamSource {
    func open(_ stream: StreamName, after: Position?, for principal: Principal) async throws -> StreamOpening {
        try state.withLock { state in
            state.opened += 1
            if state.denied.contains(stream) { throw Problem.notFound("stream") }
            guard stream.isDurable else { return .snapshot(Array(#"{"online":false}"#.utf8), .ephemeral) }
            let log = state.logs[stream] ?? []
            let position = Position(epoch: "e1", sequence: Int64(log.count))
            let snapshot = Array(#"{"count":\#(log.count)}"#.utf8)
            guard let after else { return .snapshot(snapshot, position) }
            guard after.epoch == "e1" else { return .reset(.epoch, snapshot, position) }
            return .changes(Array(log.dropFirst(Int(after.sequence))), position)
        }
    }
}

extension FakeServices {
    func moved(
        _ conversations: Set<ConversationID>, in inbox: UserID, after sequence: Int64, upTo position: Position
    ) async throws -> StateOpening {
        let rows = conversations.map(\.text).sorted().map { #"{"id":"\#($0)"}"# }
        return StateOpening(.rows(rows, after: sequence), position)
    }
}

extension FakeServices: RequestHandler {
    /// `echo` returns its parameters, `commit` writes to the caller's own stream and returns its position.
    func handle(
        _ name: String, params: [UInt8], principal: Principal, from origin: SessionOrigin
    ) async -> RequestResult {
        switch name {
        case "echo": return .result(params, positions: [:])
        case "commit":
            let stream = StreamName.user(principal.user)
            return .result(Array("{}".utf8), positions: [stream: commit(stream)])
        default: return .problem(.invalid("request", "There is no request of this name."))
        }
    }

    func isPage(_ name: String) -> Bool { false }
}

extension FakeServices: SessionObserver {
    func attached(endpoint: EndpointID, user: UserID, session: SessionID) {
        state.withLock { $0.attached.append(endpoint) }
    }

    func detached(endpoint: EndpointID, user: UserID, session: SessionID) {
        state.withLock { $0.detached.append(endpoint) }
    }

    func alive(endpoint: EndpointID, user: UserID, session: SessionID) {}
}
