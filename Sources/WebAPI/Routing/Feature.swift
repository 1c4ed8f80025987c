internal import Model
import Synchronization

/// A feature that the operator may disable. What exists of it stays, and can be read, left and removed: nothing new is made.
package enum Feature: String, Hashable, Sendable, CaseIterable {
    case friends
    case userSearch
    case messageSearch
    case groups
    case inviteLinks

    /// What users can do, for `GET /v1/server`.
    var meaning: String {
        switch self {
        case .friends: "Whether users can become friends."
        case .userSearch: "Whether users can find others by name, e-mail address or id."
        case .messageSearch: "Whether users can search messages."
        case .groups: "Whether users can create groups. Those that exist go on, if not."
        case .inviteLinks: "Whether users can make and use links of themselves and of groups."
        }
    }
}

/// The feature without which an operation is refused.
package struct FeatureRequirement: Sendable {
    let feature: Feature
    /// Decides from a request with its body whether it needs the feature; nil if every one does.
    let applies: (@Sendable (OperationRequest) throws -> Bool)?

    static func always(_ feature: Feature) -> Self { Self(feature: feature, applies: nil) }

    static func when(
        _ feature: Feature, _ applies: @escaping @Sendable (OperationRequest) throws -> Bool
    ) -> Self { Self(feature: feature, applies: applies) }
}

/// The features that are disabled now. A reload of the configuration replaces them.
package final class FeatureFlags: Sendable {
    private let disabled: Mutex<Set<Feature>>

    package init(disabled: Set<Feature> = []) { self.disabled = Mutex(disabled) }

    package func adopt(disabled: Set<Feature>) { self.disabled.withLock { $0 = disabled } }

    package func isEnabled(_ feature: Feature) -> Bool { disabled.withLock { !$0.contains(feature) } }

    /// - Parameter request: nil before its body was read: what depends on the body is then not decided yet.
    /// - Throws: `feature_disabled`, or `invalid_request` for a body that cannot be read.
    func check(_ operation: Operation, _ request: OperationRequest?) throws {
        guard let requirement = operation.feature, !isEnabled(requirement.feature) else { return }
        if let applies = requirement.applies {
            guard let request, try applies(request) else { return }
        }
        let feature = requirement.feature
        throw Problem(
            .featureDisabled, "The operator of this server has disabled this feature: \(feature.rawValue).",
            members: ["feature": "\"\(feature.rawValue)\""])
    }
}
