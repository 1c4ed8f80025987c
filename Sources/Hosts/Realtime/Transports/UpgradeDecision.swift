import Model
import NIOHTTP1

/// The origins whose pages may open a realtime session: this server's own, and those that are listed.
package struct AllowedOrigins: Sendable {
    private let origins: Set<String>
    private let allowsAll: Bool

    /// - Parameter origins: Such as `https://app.example.com`; `*` is every origin.
    package init(_ origins: [String]) {
        self.origins = Set(origins.map { $0.lowercased() })
        allowsAll = origins.contains("*")
    }

    /// Clients other than browsers send no origin.
    package func allows(origin: String?, host: String?) -> Bool {
        guard let origin = origin?.lowercased(), !allowsAll else { return true }
        if origins.contains(origin) { return true }
        guard let host = host?.lowercased() else { return false }
        return origin == "https://" + host || origin == "http://" + host
    }
}

/// What to do with the first request of a connection.
enum UpgradeDecision: Equatable {
    /// It opens a realtime session.
    case upgrade
    /// It is an ordinary HTTP request. Any other `Upgrade`, such as `h2c`, is ignored (RFC 9110 section 7.8).
    case http
    /// It may not open a session.
    case reject(Problem, headers: HTTPHeaders)

    static let path = "/v1/realtime"

    /// RFC 6455 section 4.2.1.
    init(_ head: HTTPRequestHead, origins: AllowedOrigins) {
        let path = head.uri.prefix { $0 != "?" }
        let headers = head.headers
        let wantsWebSocket = headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
        guard path == Self.path, wantsWebSocket, head.method == .GET else {
            self = .http
            return
        }
        guard head.version == .http1_1,
            headers[canonicalForm: "connection"].contains(where: { $0.lowercased() == "upgrade" })
        else {
            self = .reject(.invalid("Connection", "An upgrade needs HTTP/1.1 and Connection: Upgrade."), headers: [:])
            return
        }
        guard headers["sec-websocket-version"] == ["13"] else {
            self = .reject(
                Problem(.upgradeRequired, "Only version 13 of WebSocket is supported."),
                headers: ["Sec-WebSocket-Version": "13"])
            return
        }
        let keys = headers["sec-websocket-key"]
        guard keys.count == 1, let key = keys.first, Self.isKey(key) else {
            self = .reject(.invalid("Sec-WebSocket-Key", "The key must be 16 bytes in base64."), headers: [:])
            return
        }
        guard origins.allows(origin: headers.first(name: "origin"), host: headers.first(name: "host")) else {
            self = .reject(
                Problem(.forbidden, "Pages of this origin may not connect; add it to http.allowedOrigins."),
                headers: [:])
            return
        }
        self = .upgrade
    }

    private static func isKey(_ key: String) -> Bool {
        key.utf8.count == 24 && key.hasSuffix("==")
            && key.utf8.dropLast(2).allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                    true
                default: false
                }
            }
    }
}
