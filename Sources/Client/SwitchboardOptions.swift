public import Logging
public import NIOSSL

/// How a ``Switchboard`` behaves. The defaults suit an app.
public struct SwitchboardOptions: Sendable {
    /// The endpoint that this process is. Nil makes a new one; an app that stores it takes up its calls again after it
    /// was killed and restarted.
    public var endpoint: Endpoint?
    /// How long a request may take, however often the connection breaks meanwhile.
    public var requestTimeout: Duration = .seconds(30)
    /// How long opening a connection may take.
    public var connectTimeout: Duration = .seconds(10)
    /// How many requests may wait for a connection or an answer.
    public var pendingRequests = 1_024
    /// How certificates are checked; tests with certificates of their own change it. Nil checks them as usual.
    public var tls: TLSConfiguration?
    /// Where the library logs: connections at `debug`, what the server sent and should not have at `warning`. It never
    /// logs tokens, addresses or signals. Nil logs nothing.
    public var logger: Logger?

    /// The defaults.
    public init() {}
}

/// A running client's identity: made by the client, and registered by its first use. The secret proves it later.
public struct Endpoint: Hashable, Sendable, Codable {
    /// The endpoint's id: a UUID.
    public var id: EndpointID
    /// 16 to 128 characters of `A-Z a-z 0-9 _ -`. Store it as a password.
    public var secret: String

    /// Puts a stored identity together again.
    public init(id: EndpointID, secret: String) {
        self.id = id
        self.secret = secret
    }

    /// Makes a new identity.
    public static func make() -> Endpoint {
        Endpoint(id: EndpointID(newUUID()), secret: newUUID() + newUUID())
    }
}
