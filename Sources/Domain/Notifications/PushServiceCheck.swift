/// Whether a push service that the operator has configured would take pushes.
package struct PushServiceCheck: Codable, Hashable, Sendable {
    /// By whose services a request can be tried without a device; `apns` is tried for `apnsVoIP` too.
    package static let kinds: [PushKind] = [.fcm, .apns]

    package var kind: PushKind
    /// Nil if it would.
    package var problem: String?

    package init(kind: PushKind, problem: String? = nil) {
        self.kind = kind
        self.problem = problem
    }
}
