import Accounts
import Model
import Services
import Storage

// Requests of `switchboard key` and `switchboard audit`.
extension ServerKeyService {
    /// The maximum number of entries in one response.
    private static let maxEntries = 10_000

    /// Nil for other requests.
    func handle(_ request: ControlRequest) async throws -> ControlResponse? {
        switch request {
        case .keyCreate(let name, let scopes, let expires, let addresses):
            let made = try await create(name: name, scopes: scopes, lifetime: expires, addresses: addresses)
            return ControlResponse(lines: [made.key.text])
        case .keyRotate(let id):
            return ControlResponse(lines: [try await rotate(id).key.text])
        case .keyRevoke(let id):
            return ControlResponse(lines: ["The key \(try await revoke(id).id) is revoked."])
        case .keyList:
            let (keys, now) = try await list()
            return ControlResponse(lines: keys.map { Self.line($0, at: now) })
        case .audit(let since, let json):
            let entries = try await audit.entries(since: Timestamp.start(since: since), limit: Self.maxEntries)
            return ControlResponse(lines: entries.map { json ? $0.json : $0.line })
        default: return nil
        }
    }

    private static func line(_ key: ServerKeyRecord, at now: Timestamp) -> String {
        [
            key.id.text, key.name, key.state(at: now).rawValue,
            key.scopes.map(\.rawValue).sorted().joined(separator: ","),
            key.addresses.isEmpty ? "any" : key.addresses.joined(separator: ","), key.createdAt.text,
            key.expiresAt?.text ?? "never", key.lastUsedAt?.text ?? "unused",
        ].joined(separator: "\t")
    }
}

extension Timestamp {
    /// The value of `--since`: a time, or how long ago.
    static func start(since text: String) throws -> Timestamp {
        if let time = Timestamp(text) { return time }
        guard let seconds = try? ServerKeyRules.lifetime(text) else {
            throw Problem.invalid(
                "since", "--since is a time such as 2026-11-24T12:00:00Z, or how long ago, such as 90m, 12h or 7d.")
        }
        return Timestamp.systemClock().adding(seconds: -seconds)
    }
}
