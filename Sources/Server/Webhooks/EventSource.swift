import AsyncHTTPClient
import Foundation
import Model
import NIOCore
import NIOHTTP1
import NIOPosix
import Providers

/// Reads events from `GET /v1/server/events` of a server.
final class EventSource: Sendable {
    enum Position: Hashable, Sendable {
        case now
        case since(Timestamp)
        case after(String)
    }

    struct Event: Sendable {
        var id: String
        var type: String
        var timestamp: Timestamp?
        /// What a webhook gets: type, timestamp and data as JSON.
        var body: [UInt8]
        /// How long it was worth telling when it was read; nil for ever.
        var remaining: Duration?
    }

    struct Page: Sendable {
        var events: [Event]
        var next: String
    }

    enum Failure: Error {
        /// Trying again is no use: the key, or the request.
        case refused(String)
        /// The position is no longer kept.
        case gone
        case unavailable(String, retryAfter: Duration?)
    }

    private static let waitSeconds = 25
    private static let maxPageBytes = 16 << 20
    private static let maxRetryAfter = Duration.seconds(600)

    let server: String
    let key: String
    private let client: HTTPClient

    init(server: String, key: String) {
        self.server = server
        self.key = key
        var configuration = HTTPClient.Configuration()
        // The key is for this server alone.
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(10)
        client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    }

    deinit { client.shutdown { _ in } }

    /// - Parameter waits: whether to wait for the next event if there is none after the position.
    func page(from position: Position, waits: Bool) async throws(Failure) -> Page {
        var parts = URLComponents()
        parts.queryItems = [URLQueryItem(name: "wait", value: waits ? "\(Self.waitSeconds)" : "0")]
        switch position {
        case .now: break
        case .since(let time): parts.queryItems?.append(URLQueryItem(name: "since", value: time.text))
        case .after(let text): parts.queryItems?.append(URLQueryItem(name: "after", value: text))
        }
        var request = HTTPClientRequest(url: server + "/v1/server/events?" + (parts.percentEncodedQuery ?? ""))
        request.headers.add(name: "Authorization", value: "Bearer \(key)")
        request.headers.add(name: "User-Agent", value: "switchboard/\(ServerVersion.text)")
        let status: UInt
        let body: Data
        let retryAfter: Duration?
        do {
            let response = try await client.execute(request, timeout: .seconds(Int64(Self.waitSeconds) + 30))
            status = response.status.code
            retryAfter = RetryTime.read { response.headers.first(name: $0) }
                .map { min(max($0, .seconds(1)), Self.maxRetryAfter) }
            body = Data((try await response.body.collect(upTo: Self.maxPageBytes)).readableBytesView)
        } catch {
            throw .unavailable("The server cannot be reached.", retryAfter: nil)
        }
        let document = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
        let detail = document?["detail"] as? String ?? "The server responded \(status)."
        switch status {
        case 200:
            guard let page = document.flatMap(Self.page) else {
                throw .refused("The server's response cannot be read: is it of another version?")
            }
            return page
        case 410: throw .gone
        case 408, 429, 500...: throw .unavailable(detail, retryAfter: retryAfter)
        default: throw .refused(detail)
        }
    }

    private static func page(_ document: [String: Any]) -> Page? {
        guard let list = document["events"] as? [[String: Any]], let next = document["next"] as? String else {
            return nil
        }
        let events = list.compactMap(event)
        return events.count == list.count ? Page(events: events, next: next) : nil
    }

    static func event(_ document: [String: Any]) -> Event? {
        var payload = document
        guard let id = payload.removeValue(forKey: "id") as? String, let type = payload["type"] as? String,
            let body = try? JSONSerialization.data(
                withJSONObject: payload, options: [.sortedKeys, .withoutEscapingSlashes])
        else { return nil }
        let remaining = (payload["data"] as? [String: Any])?["remainingMs"] as? Int64
        return Event(
            id: id, type: type, timestamp: (payload["timestamp"] as? String).flatMap { Timestamp($0) },
            body: Array(body), remaining: remaining.map { .milliseconds($0) })
    }
}
