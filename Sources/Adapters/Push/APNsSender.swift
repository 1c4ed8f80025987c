package import Model
package import Notifications
package import Providers
package import Tokens

/// Sends pushes to Apple's devices by its push service (APNs), over one connection of HTTP/2 to each environment.
package struct APNsSender: PushSender {
    package struct Addresses: Hashable, Sendable {
        package var production = "https://api.push.apple.com"
        package var sandbox = "https://api.sandbox.push.apple.com"

        package init() {}
    }

    package static let timeout = Duration.seconds(10)
    private static let maxResponseSize = 16 << 10

    private let key: APNsKey
    private let topic: String
    private let addresses: Addresses
    private let connection: ProviderConnection
    private let timeout: Duration
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - topic: the app's bundle ID.
    ///   - authorities: a PEM file of authorities that are trusted beside the system's.
    package init(
        _ key: APNsKey, topic: String, addresses: Addresses = Addresses(), authorities: String? = nil,
        timeout: Duration = Self.timeout, now: @escaping @Sendable () -> Timestamp
    ) {
        self.key = key
        self.topic = topic
        self.addresses = addresses
        self.timeout = timeout
        self.now = now
        connection = ProviderConnection(authorities: authorities)
    }

    package func send(_ message: PushMessage) async -> PushOutcome {
        guard case .apns(let address) = message.address else { return .rejected("It is not for APNs.") }
        do throws(APNsPayload.Invalid) {
            let payload = try APNsPayload(message.payload, isVoIP: address.isVoIP)
            switch await post(payload, to: address, secondsToLive: message.secondsToLive) {
            case .response(let response):
                return (200..<300).contains(response.status) ? .delivered : APNsError(response).outcome
            case .failed(let outcome): return outcome
            }
        } catch {
            switch error {
            case .data: return .rejected("It is no notification in JSON.")
            case .tooLarge(let limit): return .rejected("It has more than \(limit) bytes.")
            }
        }
    }

    private enum Result {
        case response(ProviderClient.Response)
        case failed(PushOutcome)
    }

    /// A refused token is replaced once, if Apple permits another one already.
    private func post(_ payload: APNsPayload, to address: APNsAddress, secondsToLive: Int) async -> Result {
        let deadline = ContinuousClock.now + timeout
        let now = now()
        let origin = address.environment == .sandbox ? addresses.sandbox : addresses.production
        var headers = [
            ("apns-topic", address.isVoIP ? topic + ".voip" : topic),
            ("apns-push-type", address.isVoIP ? "voip" : "alert"), ("apns-priority", "10"),
            ("apns-expiration", "\(now.milliseconds / 1_000 + Int64(max(0, secondsToLive)))"),
            ("Content-Type", "application/json"),
        ]
        if let collapseID = payload.collapseID { headers.append(("apns-collapse-id", collapseID)) }
        do {
            for isLast in [false, true] {
                let authorization = try key.authorization(at: now)
                let response = try await connection.post(
                    payload.body, to: "\(origin)/3/device/\(address.token)",
                    headers: headers + [("authorization", authorization)], maxResponseSize: Self.maxResponseSize,
                    deadline: deadline)
                guard !isLast, response.status == 403, APNsError(response).isOfProviderToken,
                    key.reject(authorization, at: now)
                else { return .response(response) }
            }
            return .failed(.rejected("The request could not be sent."))
        } catch let failure as ProviderFailure {
            return .failed(failure == .cancelled ? .cancelled : .unreachable("\(failure)"))
        } catch {
            return .failed(.rejected("The request could not be signed."))
        }
    }
}

// Trying it.
extension APNsSender {
    /// Sends a notification to a device that does not exist: that Apple finds this wrong shows that it takes the key.
    package func check() async -> PushServiceCheck {
        let address = APNsAddress(token: String(repeating: "0", count: 64), environment: .production, isVoIP: false)
        guard let payload = try? APNsPayload(Array(#"{"kind":"test"}"#.utf8), isVoIP: false) else {
            return PushServiceCheck(kind: .apns, problem: "The request could not be made.")
        }
        switch await post(payload, to: address, secondsToLive: 0) {
        case .response(let response):
            let error = APNsError(response)
            if (200..<300).contains(response.status) || error.isOfUnknownDevice { return PushServiceCheck(kind: .apns) }
            return PushServiceCheck(kind: .apns, problem: error.reason)
        case .failed(.unreachable(let reason)), .failed(.rejected(let reason)):
            return PushServiceCheck(kind: .apns, problem: reason)
        case .failed: return PushServiceCheck(kind: .apns, problem: "The request was cancelled.")
        }
    }
}
