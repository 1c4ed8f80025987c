package import Notifications

/// Sends each push by the service that its address is of.
package struct PushSenders: PushSender {
    private let web: WebPushSender
    private let fcm: FCMSender?
    private let apns: APNsSender?

    package init(web: WebPushSender, fcm: FCMSender?, apns: APNsSender?) {
        self.web = web
        self.fcm = fcm
        self.apns = apns
    }

    package func send(_ message: PushMessage) async -> PushOutcome {
        switch message.address {
        case .web: await web.send(message)
        case .fcm: await fcm?.send(message) ?? .rejected("FCM is not configured.")
        case .apns: await apns?.send(message) ?? .rejected("APNs is not configured.")
        }
    }

    /// Tries those that can be tried without a device.
    package func check() async -> [PushServiceCheck] {
        var checks: [PushServiceCheck] = []
        for kind in PushServiceCheck.kinds {
            if let check = await check(kind) { checks.append(check) }
        }
        return checks
    }

    /// Nil if it is not configured, or needs a device.
    package func check(_ kind: PushKind) async -> PushServiceCheck? {
        switch kind {
        case .fcm: await fcm?.check()
        case .apns: await apns?.check()
        case .web, .apnsVoIP: nil
        }
    }
}
