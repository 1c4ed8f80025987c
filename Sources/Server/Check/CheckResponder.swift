import Accounts
import Crypto
import Foundation
import Model
import Notifications
import Services
import Synchronization
import Translators
import Webhooks

/// The running server's side of `switchboard check`: identities for a hello, and legs in the gateway, none of which is
/// written anywhere. Both end by themselves after half a minute.
///
/// Only who can open the control socket reaches it, and may do all of this and more anyway.
final class CheckResponder: Sendable {
    /// Of both tokens and legs at a time.
    private static let limit = 32
    private static let seconds: Int64 = 30
    private static let maxOfferByteCount = 64 * 1024
    private static let maxPushByteCount = 256

    private struct Leg: Hashable {
        let call: String
        let leg: String
    }

    private struct State {
        /// The tokens that were not used yet, and when they expire.
        var tokens: [String: Timestamp] = [:]
        var legs: Set<Leg> = []
    }

    /// Those that this process runs.
    private let roles: Set<ServerRole>
    private let gateway: GatewayLegs?
    private let keys: @Sendable () -> [ServerKeyRecord]
    private let webhooks: @Sendable () async throws -> [WebhookHealth]
    private let push: @Sendable () async throws -> PushHealth?
    private let pusher: (@Sendable (WebPushAddress, String) async -> PushOutcome)?
    private let translation: @Sendable () async -> [EngineReport]
    private let embedding: @Sendable () async -> [EngineReport]
    private let explanation: @Sendable () async -> [EngineReport]
    private let transcription: @Sendable () async -> [EngineReport]
    private let clock: @Sendable () -> Timestamp
    private let state = Mutex(State())

    init(
        roles: Set<ServerRole>, gateway: GatewayLegs?, keys: @escaping @Sendable () -> [ServerKeyRecord],
        webhooks: @escaping @Sendable () async throws -> [WebhookHealth] = { [] },
        push: @escaping @Sendable () async throws -> PushHealth? = { nil },
        pusher: (@Sendable (WebPushAddress, String) async -> PushOutcome)? = nil,
        translation: @escaping @Sendable () async -> [EngineReport] = { [] },
        embedding: @escaping @Sendable () async -> [EngineReport] = { [] },
        explanation: @escaping @Sendable () async -> [EngineReport] = { [] },
        transcription: @escaping @Sendable () async -> [EngineReport] = { [] },
        clock: @escaping @Sendable () -> Timestamp
    ) {
        // Without the api there is no gateway, whatever was asked for.
        self.roles = gateway == nil ? roles.subtracting([.gateway]) : roles
        self.gateway = gateway
        self.keys = keys
        self.webhooks = webhooks
        self.push = push
        self.pusher = pusher
        self.translation = translation
        self.embedding = embedding
        self.explanation = explanation
        self.transcription = transcription
        self.clock = clock
    }

    func handle(_ request: CheckRequest) async -> ControlResponse {
        switch request {
        case .roles: ControlResponse(lines: ServerRole.allCases.filter(roles.contains).map(\.rawValue))
        case .helloToken: makeToken()
        case .keyExpiries: listKeys()
        case .webhooks: await listWebhooks()
        case .push: await describePushes()
        case .webPush(let endpoint, let key, let secret, let text): await push(text, to: endpoint, key, secret)
        case .translation: await list(translation)
        case .embedding: await list(embedding)
        case .explanation: await list(explanation)
        case .transcription: await list(transcription)
        case .leg(let call, let leg, let sdp): await answer(sdp, Leg(call: call, leg: leg))
        case .endLeg(let call, let leg): end(Leg(call: call, leg: leg))
        }
    }

    // MARK: Hello

    /// The identity of a token, which is good only once: a user and an endpoint that nobody else has. Nil if the token
    /// is not one of a check.
    func admit(_ token: String) -> (principal: Principal, expiresAt: Timestamp, endpoint: EndpointID)? {
        let now = clock()
        let expiry = state.withLock { $0.tokens.removeValue(forKey: token) }
        guard let expiry, now < expiry else { return nil }
        return (Principal(user: .make(at: now)), now.adding(seconds: Self.seconds), .make(at: now))
    }

    private func makeToken() -> ControlResponse {
        let now = clock()
        // 256 random bits, and no JWT: the verifier of tokens rejects it.
        let key = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        let token = "check-" + key.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        return state.withLock { state in
            state.tokens = state.tokens.filter { now < $0.value }
            guard state.tokens.count < Self.limit else { return Self.full }
            state.tokens[token] = now.adding(seconds: Self.seconds)
            return ControlResponse(lines: [token])
        }
    }

    // MARK: Keys

    private func listKeys() -> ControlResponse {
        let keys = keys().filter { $0.revokedAt == nil }.map { key in
            KeyExpiry(id: key.id.text, name: key.name, expiresAt: key.expiresAt?.milliseconds)
        }
        guard let json = try? JSONEncoder().encode(keys) else { return ControlResponse(error: "No list of keys.") }
        return ControlResponse(lines: [String(decoding: json, as: UTF8.self)])
    }

    // MARK: Webhooks

    private func listWebhooks() async -> ControlResponse {
        guard let webhooks = try? await webhooks(), let json = try? JSONEncoder().encode(webhooks) else {
            return ControlResponse(error: "No list of webhooks.")
        }
        return ControlResponse(lines: [String(decoding: json, as: UTF8.self)])
    }

    private func describePushes() async -> ControlResponse {
        guard let health = try? await push(), let json = try? JSONEncoder().encode(health) else {
            return ControlResponse(error: "Nothing is known of pushes.")
        }
        return ControlResponse(lines: [String(decoding: json, as: UTF8.self)])
    }

    private func push(
        _ text: String, to endpoint: String, _ publicKey: [UInt8], _ authSecret: [UInt8]
    ) async -> ControlResponse {
        guard let pusher else { return ControlResponse(error: "This server runs without the api.") }
        guard let url = WebhookURL(endpoint), publicKey.count == WebPushAddress.publicKeyLength,
            authSecret.count == WebPushAddress.authSecretLength, text.utf8.count <= Self.maxPushByteCount
        else { return ControlResponse(error: "This is no subscription.") }
        let address = WebPushAddress(endpoint: url, publicKey: publicKey, authSecret: authSecret)
        switch await pusher(address, text) {
        case .delivered: return ControlResponse(lines: [])
        case .gone(let reason), .rejected(let reason), .retry(_, let reason), .unreachable(let reason):
            return ControlResponse(lines: [reason])
        case .cancelled: return ControlResponse(lines: ["The server stops."])
        }
    }

    // MARK: Engines

    private func list(_ reports: @Sendable () async -> [EngineReport]) async -> ControlResponse {
        guard let json = try? JSONEncoder().encode(await reports()) else {
            return ControlResponse(error: "No list of engines.")
        }
        return ControlResponse(lines: [String(decoding: json, as: UTF8.self)])
    }

    // MARK: Legs

    private func answer(_ sdp: String, _ leg: Leg) async -> ControlResponse {
        guard let gateway else { return ControlResponse(error: "This server runs without the gateway.") }
        guard leg.call.utf8.count <= 64, leg.leg.utf8.count <= 64, sdp.utf8.count <= Self.maxOfferByteCount else {
            return ControlResponse(error: "The offer of a check is too long.")
        }
        let isAdmitted = state.withLock { state in
            guard state.legs.count < Self.limit else { return false }
            return state.legs.insert(leg).inserted
        }
        guard isAdmitted else { return Self.full }
        Task { [weak self] in
            try? await Task.sleep(for: .seconds(Self.seconds))
            _ = self?.end(leg)
        }
        do {
            return ControlResponse(lines: [try await gateway.answerCheck(sdp, call: leg.call, leg: leg.leg)])
        } catch let problem as Problem {
            _ = end(leg)
            return ControlResponse(error: problem.detail)
        } catch {
            _ = end(leg)
            return ControlResponse(error: "\(error)")
        }
    }

    private func end(_ leg: Leg) -> ControlResponse {
        if state.withLock({ $0.legs.remove(leg) }) != nil { gateway?.endCheck(call: leg.call, leg: leg.leg) }
        return ControlResponse(lines: [])
    }

    private static let full = ControlResponse(error: "Too many checks run at a time: wait half a minute.")
}
