package import Notifications

/// Sends each push by the service that its address is of.
package struct PushSenders: PushSender {
    private let web: WebPushSender
    private let fcm: FCMSender?

    package init(web: WebPushSender, fcm: FCMSender?) {
        self.web = web
        self.fcm = fcm
    }

    package func send(_ message: PushMessage) async -> PushOutcome {
        switch message.address {
        case .web: await web.send(message)
        case .fcm: await fcm?.send(message) ?? .rejected("FCM is not configured.")
        }
    }

    /// Tries those that can be tried without a device.
    package func tryOut() async -> [PushTrial] {
        if let fcm { [await fcm.tryOut()] } else { [] }
    }
}
