package import Model

/// What the route table asks of the server before it runs an operation.
package protocol RequestGate: Sendable {
    /// Admits a request over HTTP before its body is read: the bucket of its address, its credential, the bucket of its
    /// user, and its endpoint, which is registered on its first use, in this order.
    ///
    /// Returns who asks, nil where nobody has to say. Throws a `Problem`.
    func admit(_ request: AdmissionRequest) async throws -> Principal?
    /// Counts a request of a realtime session, whose token and endpoint were checked when it began; throws `rate_limited`
    /// when there were too many.
    func admit(_ limit: RequestLimit, of principal: Principal) throws
}

/// What a request says of itself before its body.
package struct AdmissionRequest: Sendable {
    package enum Credential: Sendable {
        /// The operation is for everybody.
        case none
        /// The `Authorization` header, where there is one.
        case accessToken(authorization: String?)
        /// The address was made for a user and signed. Throws a `Problem` when it is not good.
        case signature(verify: @Sendable () throws -> Principal)
    }

    /// The `Switchboard-Endpoint` header, where there is one.
    package enum Endpoint: Sendable {
        case ignored
        case optional(String?)
        case required(String?)

        package var header: String? {
            switch self {
            case .ignored: nil
            case .optional(let header), .required(let header): header
            }
        }
    }

    /// Which of the user's limits it counts against; without a user, of the address's.
    package var limit: RequestLimit
    /// Where the client is, as limits count it.
    package var address: String
    package var credential: Credential
    package var endpoint: Endpoint

    package init(limit: RequestLimit, address: String, credential: Credential, endpoint: Endpoint = .ignored) {
        self.limit = limit
        self.address = address
        self.credential = credential
        self.endpoint = endpoint
    }
}
