/// Whether a push service that the operator has configured would take pushes.
package struct PushServiceCheck: Codable, Hashable, Sendable {
    package var kind: PushKind
    /// Nil if it would.
    package var problem: String?

    package init(kind: PushKind, problem: String? = nil) {
        self.kind = kind
        self.problem = problem
    }
}
