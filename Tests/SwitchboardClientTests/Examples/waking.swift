import Foundation
import SwitchboardClient

#if canImport(CallKit) && canImport(PushKit)
    import CallKit
    import PushKit
#endif

/// The example of the article on phones that sleep: it is compiled here.
enum WakingExample {
    // docs:begin
    /// Rings by pushes of PushKit, and shows calls by CallKit.
    @MainActor
    final class CallRinger: NSObject, @preconcurrency PKPushRegistryDelegate, @preconcurrency CXProviderDelegate {
        private let switchboard: Switchboard
        private let environment: PushToken.Environment
        private let registry = PKPushRegistry(queue: .main)
        private let provider = CXProvider(configuration: CXProviderConfiguration())
        /// By CallKit's ids.
        private var calls: [UUID: CallID] = [:]
        private var answered: [UUID: LiveCall] = [:]
        private var tasks: [UUID: Task<Void, Never>] = [:]

        /// Create it at each launch, also one in the background, before the app does anything else.
        init(_ switchboard: Switchboard, environment: PushToken.Environment) {
            (self.switchboard, self.environment) = (switchboard, environment)
            super.init()
            provider.setDelegate(self, queue: nil)
            registry.delegate = self
            registry.desiredPushTypes = [.voIP]
        }

        func pushRegistry(_ registry: PKPushRegistry, didUpdate credentials: PKPushCredentials, for type: PKPushType) {
            let token = PushToken.apnsVoIP(credentials.token, environment: environment)
            Task { try await switchboard.registerForPushes(token) }
        }

        func pushRegistry(
            _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
            completion: @escaping () -> Void
        ) {
            let push = PushNotification(userInfo: payload.dictionaryPayload)
            let update = CXCallUpdate()
            update.localizedCallerName = push?.title
            guard case .ring(let call, let isVideo, let expiry)? = push?.content else {
                // iOS ends an app that does not report a call, whatever the push is.
                let id = UUID()
                provider.reportNewIncomingCall(with: id, update: update) { _ in }
                provider.reportCall(with: id, endedAt: nil, reason: .failed)
                return completion()
            }
            update.hasVideo = isVideo
            let id = UUID(uuidString: call.rawValue) ?? UUID()
            let isNew = calls.updateValue(call, forKey: id) == nil
            provider.reportNewIncomingCall(with: id, update: update) { _ in }
            completion()
            // A push may come twice.
            guard isNew else { return }
            tasks[id] = Task {
                do {
                    if let end = try await switchboard.ringEnd(of: call, expiringAt: expiry) { finish(id, end) }
                } catch {
                    if !Task.isCancelled { finish(id, .cancelled) }
                }
            }
        }

        func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
            let id = action.callUUID
            guard let call = calls[id] else { return action.fail() }
            tasks[id]?.cancel()
            tasks[id] = Task {
                do {
                    switch try await switchboard.answer(call) {
                    case .answered(let live):
                        answered[id] = live
                        action.fulfill()
                        await talk(over: live)
                        finish(id, .cancelled)
                    case .over(let end):
                        action.fail()
                        finish(id, end)
                    }
                } catch {
                    action.fail()
                    if !Task.isCancelled { finish(id, .cancelled) }
                }
            }
        }

        func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
            let id = action.callUUID
            tasks.removeValue(forKey: id)?.cancel()
            let live = answered.removeValue(forKey: id)
            if let call = calls.removeValue(forKey: id) {
                Task {
                    if let live { _ = try await live.leave() } else { _ = try await switchboard.decline(call) }
                }
            }
            action.fulfill()
        }

        func providerDidReset(_ provider: CXProvider) {
            for task in tasks.values { task.cancel() }
            (calls, answered, tasks) = ([:], [:], [:])
        }

        /// Ends what CallKit shows of a call, unless the user did.
        private func finish(_ id: UUID, _ end: RingEnd) {
            guard calls.removeValue(forKey: id) != nil else { return }
            answered[id] = nil
            tasks[id] = nil
            let reason: CXCallEndedReason =
                switch end {
                case .answered: .answeredElsewhere
                case .declined: .declinedElsewhere
                case .missed: .unanswered
                default: .remoteEnded
                }
            provider.reportCall(with: id, endedAt: nil, reason: reason)
        }

        /// The media of the call, until it ends.
        private func talk(over call: LiveCall) async {
            for await _ in call.updates {}
        }
    }
    // docs:end
}
