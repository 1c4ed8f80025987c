package import Model

/// Who makes a request with a server key. It is no user: it has scopes, and no calls, blocks or streams of its own.
package struct KeyPrincipal: Hashable, Sendable {
    package var id: ServerKeyID
    package var scopes: Set<ServerKeyScope>
    /// The client's address for limits: an IPv4 address, or the /64 of an IPv6 address.
    package var address: String
    /// The request, for the audit log, whose entries are made on the store's thread.
    package var request: RequestID?

    package init(id: ServerKeyID, scopes: Set<ServerKeyScope>, address: String, request: RequestID? = .current) {
        self.id = id
        self.scopes = scopes
        self.address = address
        self.request = request
    }

    /// The name in the `act` claim of tokens (RFC 8693 section 4.1).
    package var actor: String { "key:\(id.text)" }

    /// An entry of the audit log for a write of this key.
    package func audit(_ action: String, _ subject: String?) -> AuditEntry {
        AuditEntry(actor: .key(id), action: action, subject: subject, address: address, request: request)
    }
}
