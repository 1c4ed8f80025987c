internal import FoundationEssentials
package import Model
internal import Wire

/// The URL of a webhook: https, or http where the rules allow it.
///
/// Only its form is checked here, and an address that is written out. What a name resolves to is checked when it is
/// connected to: see `WebhookClients`.
package struct WebhookURL: Hashable, Sendable {
    private static let maxLength = 2_048

    /// As it is requested, with the host in lower case.
    package let text: String
    /// A plain name or an address, without brackets.
    package let host: String
    package let port: Int
    package let isEncrypted: Bool
    /// As the `Host` of a request names it.
    package let authority: String
    /// What a request line names: the path and the query.
    package let target: String

    /// - Parameters:
    ///   - field: what the URL is in the request.
    ///   - setting: the key of what the operator allows besides public addresses.
    /// - Throws: `invalid_request` of the field.
    package init(
        _ text: String, field: String = "url", setting: String = "webhooks.allow", allowing rules: WebhookAddressRules
    ) throws(Problem) {
        guard text.utf8.count <= Self.maxLength else {
            throw .invalid(field, "A URL must not be longer than \(Self.maxLength) bytes.")
        }
        guard let url = Self(text) else {
            throw .invalid(
                field,
                "Expected an https:// URL with a host of letters, digits, '-', '_' and '.', without user or fragment.")
        }
        guard url.isEncrypted || rules.allowsPlainHTTP || !rules.allowed.isEmpty else {
            throw .invalid(field, "Expected https://: http:// is allowed only to addresses within \(setting).")
        }
        if let address = IPAddress(url.host), !rules.permits(address, isEncrypted: url.isEncrypted) {
            throw .invalid(
                field,
                url.isEncrypted
                    ? "The address \(address) is not public: add it to \(setting), or use a public address."
                    : "http:// is allowed only to addresses within \(setting): add \(address) to it, or use https://.")
        }
        self = url
    }

    /// An http or https URL with a plain host; nil for any other.
    package init?(_ text: String) {
        guard var parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", parts.user == nil, parts.password == nil, parts.fragment == nil,
            let host = parts.encodedHost?.lowercased(), let name = Self.name(in: host),
            (1...65_535).contains(parts.port ?? 443)
        else { return nil }
        parts.scheme = scheme
        parts.encodedHost = host
        guard let plain = parts.string, plain.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.text = plain
        self.host = name
        isEncrypted = scheme == "https"
        port = parts.port ?? (isEncrypted ? 443 : 80)
        authority = port == (isEncrypted ? 443 : 80) ? host : "\(host):\(port)"
        let path = parts.percentEncodedPath
        target = (path.isEmpty ? "/" : path) + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    }

    /// Scheme, host and port, without the default port (RFC 6454 section 6.2).
    package var origin: String { (isEncrypted ? "https://" : "http://") + authority }

    /// A name or an address as it stands in a URL; nil for others. Brackets hold an IPv6 address and nothing else
    /// (RFC 3986 section 3.2.2).
    private static func name(in host: String) -> String? {
        guard host.hasPrefix("[") else {
            return !host.isEmpty && host.utf8.allSatisfy(isPlain) ? host : nil
        }
        let address = host.dropFirst().dropLast()
        return host.hasSuffix("]") && address.contains(":") && IPAddress(String(address)) != nil ? String(address) : nil
    }

    /// Other characters could be normalized differently: the client must find the address under the name that was
    /// resolved.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "-_.".utf8.contains(byte)
    }
}
