import HTTPTypes
import Model
import Testing

@testable import WebAPI

@Suite("Disabled features") struct FeatureFlagsTests {
    private func operation(_ feature: FeatureRequirement?) -> WebAPI.Operation {
        WebAPI.Operation(
            name: "groups.try", method: .post, path: "/v1/try", summary: "Tries.", feature: feature
        ) { _ in .noContent }
    }

    private func operation(_ feature: Feature) -> WebAPI.Operation { operation(.always(feature)) }

    private let always: FeatureRequirement? = nil
    private let request = OperationRequest(principal: nil, parameters: [:], body: [], clientAddress: "192.0.2.1")

    private func problem(_ flags: FeatureFlags, _ operation: WebAPI.Operation, hasBody: Bool) -> Problem? {
        do {
            try flags.check(operation, hasBody ? request : nil)
            return nil
        } catch { return error as? Problem }
    }

    @Test("each is refused by itself, before the body is read, and says which it is", arguments: Feature.allCases)
    func refused(_ feature: Feature) throws {
        let flags = FeatureFlags(disabled: [feature])
        for other in Feature.allCases {
            let refused = problem(flags, operation(other), hasBody: false)
            #expect((refused != nil) == (other == feature))
            #expect(flags.isEnabled(other) == (other != feature))
        }
        let refused = try #require(problem(flags, operation(feature), hasBody: true))
        #expect(refused.kind == .featureDisabled && refused.kind.status == 403)
        #expect(refused.members == ["feature": "\"\(feature.rawValue)\""])
        #expect(problem(flags, operation(always), hasBody: true) == nil)
    }

    @Test("what depends on the request is decided once it was read")
    func dependent() {
        let flags = FeatureFlags(disabled: [.groups])
        #expect(problem(flags, operation(.when(.groups) { _ in true }), hasBody: false) == nil)
        #expect(problem(flags, operation(.when(.groups) { _ in true }), hasBody: true)?.kind == .featureDisabled)
        #expect(problem(flags, operation(.when(.groups) { _ in false }), hasBody: true) == nil)
    }

    @Test("a reload takes effect at once")
    func reload() {
        let flags = FeatureFlags()
        #expect(problem(flags, operation(Feature.friends), hasBody: false) == nil)
        flags.adopt(disabled: [.friends])
        #expect(problem(flags, operation(Feature.friends), hasBody: false)?.kind == .featureDisabled)
        flags.adopt(disabled: [])
        #expect(problem(flags, operation(Feature.friends), hasBody: false) == nil)
    }

    @Test("operations of features can respond with the problem")
    func problems() {
        #expect(operation(Feature.friends).possibleProblems.contains(.featureDisabled))
        #expect(!operation(always).possibleProblems.contains(.featureDisabled))
    }
}
