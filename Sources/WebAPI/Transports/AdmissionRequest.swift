package import Model

/// The parts of a request that are checked before its body is read.
package struct AdmissionRequest: Sendable {
    package enum Credential: Sendable {
        /// The operation needs no authentication.
        case none
        /// The `Authorization` header, if there is one.
        case accessToken(authorization: String?)
        /// The URL is signed for a user. Throws a `Problem` if the signature is not valid.
        case signature(verify: @Sendable () throws -> Principal)
    }

    /// The `Switchboard-Endpoint` header, if there is one.
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

    /// The limit that it counts against: of the user, or of the address without a user.
    package var limit: RequestLimit
    /// As how many requests it counts.
    var permits = 1
    /// The client's address for rate limits.
    package var address: String
    /// The conversation that the path names, whose limit counts too.
    package var conversation: String?
    package var credential: Credential
    package var endpoint: Endpoint
    /// Is told what the limit has left, for the response.
    var counted: CountedLimit?

    package init(limit: RequestLimit, address: String, credential: Credential, endpoint: Endpoint = .ignored) {
        self.limit = limit
        self.address = address
        self.credential = credential
        self.endpoint = endpoint
    }

    /// A request over HTTP, whose response tells what the limit has left.
    init(limit: RequestLimit, from context: WebContext, credential: Credential, endpoint: Endpoint = .ignored) {
        self.init(limit: limit, address: context.clientAddress, credential: credential, endpoint: endpoint)
        counted = context.counted
    }
}
