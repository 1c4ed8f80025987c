import FoundationEssentials
import Notifications
import Synchronization
import Webhooks

/// A sender of pushes that sends none: it keeps them, and their outcomes are what the test says.
final class ScriptedPushSender: PushSender {
    /// What a device was told, as its worker reads it.
    struct Payload: Decodable, Equatable, Sendable {
        var kind: String
        var user: String
        var title: String
        var body: String
        var number: Int64?
        var call: String?
        var reason: String?
        var badge: Int?
    }

    private let handler: @Sendable (PushMessage) async -> PushOutcome
    private let sent = Mutex<[PushMessage]>([])

    init(_ handler: @escaping @Sendable (PushMessage) async -> PushOutcome = { _ in .delivered }) {
        self.handler = handler
    }

    func send(_ message: PushMessage) async -> PushOutcome {
        sent.withLock { $0.append(message) }
        return await handler(message)
    }

    var messages: [PushMessage] { sent.withLock { $0 } }

    func messages(to endpoint: String) -> [PushMessage] { messages.filter { $0.endpoint == endpoint } }

    func payloads(at endpoint: String) throws -> [Payload] {
        try messages(to: endpoint).map { try JSONDecoder().decode(Payload.self, from: Data($0.payload)) }
    }
}

extension PushMessage {
    var endpoint: String {
        switch address {
        case .web(let address): address.endpoint.text
        case .fcm(let token): token
        case .apns(let address): address.token
        }
    }
}
