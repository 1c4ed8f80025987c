/// Why a refresh token gets no other one, as the member `reason` of the problem: a client that has lost its session by time
/// may keep what its user wrote for the next one; after the others it erases it.
package enum RefreshRefusal: Hashable, Sendable {
    case expired
    /// Of a session that ended long ago, or of no session at all.
    case unknown
    case ended(SignInEnd)

    /// The values of `reason`.
    package static let reasons = ["expired", "unknown"] + SignInEnd.allCases.map(\.rawValue)

    private var reason: String {
        switch self {
        case .expired: "expired"
        case .unknown: "unknown"
        case .ended(let end): end.rawValue
        }
    }

    var members: [String: String] { ["reason": "\"\(reason)\""] }
}
