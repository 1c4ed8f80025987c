import Accounts
import Model
import Realtime
import Synchronization
import Tokens
import WebAPI

/// How often something may be asked: in the long run, and at once.
struct RequestRate: Hashable, Sendable {
    var perMinute: Int
    var burst: Int
}

/// The one door-keeper of REST and realtime: who somebody is, which endpoint speaks, and how often a user may ask.
final class Gate: RequestGate, RealtimeAuthenticator {
    private let accounts: AccountCommands
    private let tokens: TokenVerifier
    private let limiters: Mutex<[RequestLimit: RateLimiter<String>]>
    private let rates: Mutex<[RequestLimit: RequestRate]>
    private let uptime: @Sendable () -> Int64

    /// - Parameter limits: how often a user (or, where there is none, an address) may ask; no entry, no limit.
    init(
        accounts: AccountCommands, tokens: TokenVerifier, limits: [RequestLimit: RequestRate],
        uptime: @escaping @Sendable () -> Int64
    ) {
        self.accounts = accounts
        self.tokens = tokens
        self.uptime = uptime
        rates = Mutex(limits)
        limiters = Mutex(limits.mapValues { RateLimiter(perMinute: $0.perMinute, burst: $0.burst) })
    }

    /// Takes other limits from now on; who was counted under a limit that stays goes on being counted.
    func adopt(_ limits: [RequestLimit: RequestRate]) {
        self.limiters.withLock { limiters in
            for (limit, rate) in limits where rates.withLock({ $0[limit] }) != rate {
                limiters[limit] = RateLimiter(perMinute: rate.perMinute, burst: rate.burst)
            }
        }
        rates.withLock { $0 = limits }
    }

    func principal(token: String) async throws -> Principal { try await tokens.verify(token).principal }

    func endpoint(header: String, of principal: Principal) async throws -> EndpointID {
        let parts = header.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, let id = EndpointID(String(parts[0])) else {
            throw Problem.invalid(
                "Switchboard-Endpoint", "Switchboard-Endpoint must be a UUID, a space and the endpoint's secret.")
        }
        return try await accounts.endpoint(id, secret: String(parts[1]), of: principal).id
    }

    func admit(_ limit: RequestLimit, user: UserID?, address: String) throws {
        guard limit != .none else { return }
        let now = uptime()
        let wait = limiters.withLock { $0[limit]?.take(user?.text ?? address, at: now) }
        if let wait { throw Problem(.rateLimited, "That was too often: wait a little.", retryAfter: wait) }
    }

    func authenticate(token: String) async throws -> (principal: Principal, expiresAt: Timestamp) {
        let verified = try await tokens.verify(token)
        return (verified.principal, verified.expiresAt)
    }

    func checkNotRevoked(_ principal: Principal) throws {
        try tokens.checkNotRevoked(principal)
        try accounts.checkNotDisabled(principal.user)
    }

    func endpoint(_ id: EndpointID?, secret: String?, of principal: Principal) async throws -> EndpointGrant {
        async let me = accounts.me(principal)
        let endpoint = try await accounts.endpoint(id, secret: secret, of: principal)
        return EndpointGrant(
            endpoint: endpoint.id, newSecret: endpoint.newSecret, showsPresence: try await me.presence == .everyone)
    }
}

/// Answers realtime requests from the route table.
struct RouteTableRequests: RequestHandler {
    let table: RouteTable

    func handle(
        _ name: String, params: [UInt8], principal: Principal, from origin: SessionOrigin
    ) async -> RequestAnswer {
        let host = origin.host.flatMap { HostName.withoutPort($0) }
        return
            switch await table.handle(
                name, params: params, principal: principal, clientAddress: origin.address, host: host)
        {
        case .success(let answer):
            .result(answer.body.isEmpty ? Array("{}".utf8) : answer.body, positions: answer.positions)
        case .failure(let problem): .problem(problem)
        }
    }
}
