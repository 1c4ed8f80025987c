package import Accounts
package import Model
package import Realtime
package import Services
import Storage
import Synchronization
package import Tokens

/// How often a request may be made.
package enum RequestRate: Hashable, Sendable {
    /// The sustained rate, and how many may come at once.
    case perMinute(Int, burst: Int)
    /// Within any one hour.
    case perHour(Int)
    /// As many bytes at once, which come back over a day.
    case bytesPerDay(Int)
}

/// Authenticates every request and applies its rate limits before it is processed, whether it comes over REST, in a
/// `hello`, over server-sent events, or with the signed URL of a media file.
///
/// The order is the same everywhere: the rate limit of the address, the token or signature, the rate limit of the user,
/// the endpoint, and then the body. A rejected request therefore costs as little as possible: no signature check, no
/// row and no decoding.
package final class RequestAuthenticator: RealtimeAuthenticator {
    /// How many users may share an address, such as that of an office.
    package static let usersPerAddress = 20
    /// How many streams a hello resumes for one request.
    private static let resumedPerRequest = 8
    /// In how many conversations a user may write as often as in one.
    package static let busyConversations = 5
    /// Bytes of a request with a message up to which its size does not count.
    private static let shortMessage = 4_096

    private let accounts: AccountCommands
    private let tokens: TokenVerifier
    let keys: ServerKeyService
    private let limiters: Mutex<[RequestLimit: RequestLimiter]>
    private let written = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)
    private let uptime: @Sendable () -> Int64

    /// - Parameter limits: how often a user (or an address, for requests without a user) may make requests; without an
    ///   entry there is no limit.
    package init(
        accounts: AccountCommands, tokens: TokenVerifier, keys: ServerKeyService, limits: [RequestLimit: RequestRate],
        uptime: @escaping @Sendable () -> Int64
    ) {
        self.accounts = accounts
        self.tokens = tokens
        self.keys = keys
        self.uptime = uptime
        limiters = Mutex(limits.mapValues { RequestLimiter($0) })
    }

    /// Applies other limits from now on. Limits that did not change keep their counts.
    package func adopt(_ limits: [RequestLimit: RequestRate]) {
        self.limiters.withLock { limiters in
            for (limit, rate) in limits where limiters[limit]?.rate != rate {
                limiters[limit] = RequestLimiter(rate)
            }
        }
    }
}

// Requests over HTTP, and those of realtime sessions.
extension RequestAuthenticator {
    /// Admits a request over HTTP before its body is read. Checks, in this order: the rate limit of its address, its
    /// credential, the rate limit of its user, and its endpoint, which is registered on its first use.
    ///
    /// Returns the principal; nil for an operation without authentication. Throws a `Problem`.
    func admit(_ request: AdmissionRequest) async throws -> Principal? {
        try take(.address, of: request.address, counted: request.counted)
        var principal: Principal
        switch request.credential {
        case .none:
            try take(request.limit, of: request.address, counted: request.counted)
            return nil
        case .accessToken(let authorization):
            let token = try Self.bearerToken(in: authorization)
            try keys.rejectKey(token, in: "request", from: request.address)
            principal = try await tokens.verify(token).principal
        case .signature(let verify):
            principal = try verify()
        }
        try take(
            request.limit.ofUser, of: principal.user.text, permits: request.permits, counted: request.counted)
        try take(request.limit, of: principal.user, in: request.conversation, counted: request.counted)
        if case .required(nil) = request.endpoint {
            throw Problem(
                .invalidRequest, "Name the endpoint: `Switchboard-Endpoint: <id> <secret>`.",
                field: "Switchboard-Endpoint")
        }
        if let header = request.endpoint.header {
            principal.endpoint = try await endpoint(header: header, of: principal)
        }
        return principal
    }

    /// Counts a request of a realtime session, whose token and endpoint were checked when it began. Throws
    /// `rate_limited` if there were too many.
    func admit(_ limit: RequestLimit, of principal: Principal, permits: Int = 1) throws {
        try take(limit.ofUser, of: principal.user.text, permits: permits)
    }

    /// Counts a request of a realtime session against the limit of the conversation that it names, if there is one.
    func admit(_ limit: RequestLimit, of principal: Principal, in conversation: String?) throws {
        try take(limit, of: principal.user, in: conversation)
    }

    /// Counts the size of a request with a text once it is known: a long one costs as much as many short ones, and all of a day
    /// have a limit.
    func admit(bodyOf bytes: Int, _ operation: Operation, of principal: Principal?) throws {
        let isMessage = operation.limit == .messages
        guard isMessage || operation.keepsText, bytes > 0, let principal else { return }
        if isMessage, bytes > Self.shortMessage {
            try take(.messageSizes, of: principal.user.text, permits: (bytes + 1023) / 1024)
        }
        do throws(Problem) {
            try take(.writtenBytes, of: principal.user.text, permits: bytes)
            written.add(bytes, ordering: .relaxed)
        } catch {
            refused.add(1, ordering: .relaxed)
            throw Problem(
                .rateLimited, "You have written as many bytes as one may in a day: wait, or write less.",
                retryAfter: error.retryAfter)
        }
    }

    /// The bytes of texts that were admitted, and the requests that were refused since their user had written too many.
    package var writtenBytes: (admitted: Int, refused: Int) {
        (written.load(ordering: .relaxed), refused.load(ordering: .relaxed))
    }

    private func endpoint(header: String, of principal: Principal) async throws -> EndpointID {
        let parts = header.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, let id = EndpointID(String(parts[0])) else {
            throw Problem.invalid(
                "Switchboard-Endpoint", "Switchboard-Endpoint must be a UUID, a space and the endpoint's secret.")
        }
        return try await accounts.endpoint(id, secret: String(parts[1]), of: principal).id
    }

    private static func bearerToken(in authorization: String?) throws -> String {
        guard let token = BearerToken.read(from: authorization) else { throw Problem.noAccessToken }
        return token
    }
}

// Realtime sessions that start.
extension RequestAuthenticator {
    package func admit(from origin: SessionOrigin) throws { try admit(address: origin.address) }

    package func admitListen(_ principal: Principal) throws(Problem) {
        try take(.requests, of: principal.user.text)
    }

    package func admit(
        _ hello: Hello
    ) async throws -> (principal: Principal, expiresAt: Timestamp, grant: EndpointGrant) {
        let (principal, expiresAt) = try await authenticate(token: hello.token)
        try admit(.requests, of: principal, permits: 1 + hello.resume.count / Self.resumedPerRequest)
        async let me = accounts.me(principal)
        let endpoint: (id: EndpointID, newSecret: String?)
        do {
            endpoint = try await accounts.endpoint(hello.endpoint, secret: hello.secret, of: principal)
        } catch let error as SQLError {
            // A full disk: a new endpoint cannot be registered.
            throw error.problem
        }
        let grant = EndpointGrant(
            endpoint: endpoint.id, newSecret: endpoint.newSecret, showsPresence: try await me.presence == .everybody)
        // It is only shown to the user: no reason to refuse the hello while the disk is full.
        if let client = hello.client { try? await accounts.setClient(client, of: principal) }
        return (principal, expiresAt, grant)
    }

    package func authenticate(token: String) async throws -> (principal: Principal, expiresAt: Timestamp) {
        try keys.rejectKey(token, in: "hello", from: nil)
        let verified = try await tokens.verify(token)
        return (verified.principal, verified.expiresAt)
    }

    package func checkNotRevoked(_ principal: Principal) throws {
        try tokens.checkNotRevoked(principal)
        try accounts.checkNotDisabled(principal.user)
    }
}

// Rate limits.
extension RequestAuthenticator {
    private func admit(address: String) throws { try take(.address, of: address) }

    private func take(
        _ limit: RequestLimit, of user: UserID, in conversation: String?, counted: CountedLimit? = nil
    ) throws {
        guard limit.ofUser != limit else { return }
        // As ids are written, so that a conversation has one bucket; what is none has one for all.
        let id = conversation.flatMap { ConversationID($0)?.text } ?? ""
        try take(limit, of: "\(user) \(id)", counted: counted)
    }

    /// - Parameter counted: is told what the limit has left.
    func take(
        _ limit: RequestLimit, of key: String, permits: Int = 1, counted: CountedLimit? = nil
    ) throws(Problem) {
        guard limit != .none else { return }
        let now = uptime()
        let status = limiters.withLock { $0[limit]?.count(key, permits: permits, as: limit, at: now) }
        guard let status else { return }
        counted?.set(status)
        if let wait = status.state.wait {
            throw Problem(.rateLimited, "Too many requests: wait a moment.", retryAfter: wait)
        }
    }
}

extension RequestLimit {
    /// What is counted for a user over all conversations; the limit itself, where it does not count each alone.
    fileprivate var ofUser: Self { self == .messages ? .allMessages : self }
}

/// Limits requests to one rate; exactly one of the two limiters is set.
private struct RequestLimiter: Sendable {
    let rate: RequestRate
    private var buckets: RateLimiter<String>?
    private var hours: HourlyLimiter<String>?

    init(_ rate: RequestRate) {
        self.rate = rate
        switch rate {
        case .perMinute(let permits, let burst): buckets = RateLimiter(perMinute: permits, burst: burst)
        case .perHour(let permits): hours = HourlyLimiter(limit: permits)
        case .bytesPerDay(let bytes): buckets = RateLimiter(perMinute: max(1, bytes / 1440), burst: bytes)
        }
    }

    /// Takes so many permits, of an hour one, if they are there, and returns what is left. What takes more than there can
    /// be takes all.
    mutating func count(_ key: String, permits: Int, as limit: RequestLimit, at now: Int64) -> RateLimitStatus? {
        var permits = permits
        switch rate {
        case .perMinute(_, let burst), .bytesPerDay(let burst): permits = min(permits, burst)
        case .perHour: break
        }
        let state = buckets?.count(key, permits: permits, at: now) ?? hours?.count(key, at: now)
        return state.map { RateLimitStatus(limit: limit, rate: rate, state: $0) }
    }
}
