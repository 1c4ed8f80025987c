package import Model
package import Notifications
package import Providers
import Synchronization
package import Tokens

/// Sends pushes to Apple's devices by its push service (APNs), over one connection of HTTP/2 to each environment.
package final class APNsSender: PushSender {
    package struct Addresses: Hashable, Sendable {
        package var production = "https://api.push.apple.com"
        package var sandbox = "https://api.sandbox.push.apple.com"

        package init() {}
    }

    package static let timeout = Duration.seconds(10)
    private static let maxResponseSize = 16 << 10

    private final class Environment: Sendable {
        let url: String
        let connection: ProviderConnection
        /// Whether it has taken a notification: so it is the one that tokens are of.
        let isProven = Atomic(false)

        init(_ url: String, authorities: String?) {
            self.url = url
            connection = ProviderConnection(authorities: authorities)
        }
    }

    private let key: APNsKey
    private let topic: String
    private let production: Environment
    private let sandbox: Environment
    private let timeout: Duration
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - topic: the app's bundle ID.
    ///   - authorities: a PEM file of authorities that are trusted beside the system's.
    package init(
        _ key: APNsKey, topic: String, addresses: Addresses = Addresses(), authorities: String? = nil,
        timeout: Duration = timeout, now: @escaping @Sendable () -> Timestamp
    ) {
        self.key = key
        self.topic = topic
        self.timeout = timeout
        self.now = now
        production = Environment(addresses.production, authorities: authorities)
        sandbox = Environment(addresses.sandbox, authorities: authorities)
    }

    package func send(_ message: PushMessage) async -> PushOutcome {
        guard case .apns(let address) = message.address else { return .rejected("It is not for APNs.") }
        do throws(APNsPayload.Invalid) {
            let payload = try APNsPayload(message.payload, isVoIP: address.isVoIP)
            let environment = environment(of: address)
            let limit = message.isUrgent ? min(timeout, ProviderConnection.urgentTimeout) : timeout
            switch await post(payload, to: address, secondsToLive: message.secondsToLive, limit) {
            case .response(let response) where Self.isTaken(response):
                environment.isProven.store(true, ordering: .relaxed)
                return .delivered
            case .response(let response):
                return APNsError(response).outcome(
                    isUrgent: message.isUrgent, isProven: environment.isProven.load(ordering: .relaxed))
            case .failed(let outcome): return outcome
            }
        } catch {
            switch error {
            case .data: return .rejected("It is no notification in JSON.")
            case .tooLarge(let limit): return .rejected("It has more than \(limit) bytes.")
            }
        }
    }

    private func environment(of address: APNsAddress) -> Environment {
        switch address.environment {
        case .production: production
        case .sandbox: sandbox
        }
    }

    /// Apple's response to what it takes has no body: a page is of somebody else.
    private static func isTaken(_ response: ProviderClient.Response) -> Bool {
        response.status == 200 && response.body.isEmpty
    }

    /// A refused token is replaced once, if Apple permits another one already.
    private func post(
        _ payload: APNsPayload, to address: APNsAddress, secondsToLive: Int, _ limit: Duration
    ) async -> ProviderResult {
        let deadline = ContinuousClock.now + limit
        do {
            let authorization = try key.authorization(at: now())
            let response = try await post(payload, address, secondsToLive, authorization, deadline)
            guard APNsError(response).isOfProviderToken, key.reject(authorization, at: now()) else {
                return .response(response)
            }
            let other = try key.authorization(at: now())
            return .response(try await post(payload, address, secondsToLive, other, deadline))
        } catch let failure as ProviderFailure {
            return .failed(failure == .cancelled ? .cancelled : .unreachable("\(failure)"))
        } catch {
            return .failed(.rejected("The request could not be signed."))
        }
    }

    private func post(
        _ payload: APNsPayload, _ address: APNsAddress, _ secondsToLive: Int, _ authorization: String,
        _ deadline: ContinuousClock.Instant
    ) async throws(ProviderFailure) -> ProviderClient.Response {
        let environment = environment(of: address)
        var headers = [
            ("authorization", authorization), ("apns-topic", address.isVoIP ? topic + ".voip" : topic),
            ("apns-push-type", address.isVoIP ? "voip" : "alert"), ("apns-priority", "10"),
            ("apns-expiration", "\(now().milliseconds / 1_000 + Int64(max(0, secondsToLive)))"),
            ("Content-Type", "application/json"),
        ]
        if let collapseID = payload.collapseID { headers.append(("apns-collapse-id", collapseID)) }
        return try await environment.connection.post(
            payload.body, to: "\(environment.url)/3/device/\(address.token)", headers: headers,
            maxResponseSize: Self.maxResponseSize, deadline: deadline)
    }
}

// Trying it.
extension APNsSender {
    /// Sends a notification to a device that does not exist, in production: that Apple finds only this wrong shows that it
    /// takes the key.
    package func check() async -> PushServiceCheck {
        let address = APNsAddress(token: String(repeating: "0", count: 64), environment: .production, isVoIP: false)
        guard let payload = try? APNsPayload(Array(#"{"kind":"test"}"#.utf8), isVoIP: false) else {
            return PushServiceCheck(kind: .apns, problem: "The request could not be made.")
        }
        return await post(payload, to: address, secondsToLive: 0, timeout).check(of: .apns) { response in
            let error = APNsError(response)
            return error.isOfUnknownDevice ? nil : error.reason
        }
    }
}
