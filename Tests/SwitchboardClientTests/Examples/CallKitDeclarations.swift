#if !(canImport(CallKit) && canImport(PushKit))
    import Dispatch
    import Foundation

    // What the example of phones that sleep uses of Apple's frameworks, as their documentation has it: so that it is compiled on
    // Linux, too. Nothing of it does anything.

    struct PKPushType: Hashable, Sendable {
        static let voIP = PKPushType()
    }

    final class PKPushCredentials: NSObject {
        let token = Data()
    }

    final class PKPushPayload: NSObject {
        let dictionaryPayload: [AnyHashable: Any] = [:]
    }

    protocol PKPushRegistryDelegate: AnyObject {
        func pushRegistry(_ registry: PKPushRegistry, didUpdate credentials: PKPushCredentials, for type: PKPushType)
        func pushRegistry(
            _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
            completion: @escaping () -> Void)
    }

    final class PKPushRegistry: NSObject {
        weak var delegate: (any PKPushRegistryDelegate)?
        var desiredPushTypes: Set<PKPushType>?
        init(queue: DispatchQueue?) {}
    }

    final class CXProviderConfiguration: NSObject {}

    final class CXCallUpdate: NSObject {
        var localizedCallerName: String?
        var hasVideo = false
    }

    enum CXCallEndedReason: Int {
        case failed = 1
        case remoteEnded, unanswered, answeredElsewhere, declinedElsewhere
    }

    class CXCallAction: NSObject {
        let callUUID = UUID()
        func fulfill() {}
        func fail() {}
    }

    final class CXAnswerCallAction: CXCallAction {}
    final class CXEndCallAction: CXCallAction {}

    protocol CXProviderDelegate: AnyObject {
        func providerDidReset(_ provider: CXProvider)
        func provider(_ provider: CXProvider, perform action: CXAnswerCallAction)
        func provider(_ provider: CXProvider, perform action: CXEndCallAction)
    }

    final class CXProvider: NSObject {
        init(configuration: CXProviderConfiguration) {}
        func setDelegate(_ delegate: (any CXProviderDelegate)?, queue: DispatchQueue?) {}
        func reportNewIncomingCall(
            with identifier: UUID, update: CXCallUpdate, completion: @escaping ((any Error)?) -> Void
        ) {}
        func reportCall(with identifier: UUID, endedAt date: Date?, reason: CXCallEndedReason) {}
    }
#endif
