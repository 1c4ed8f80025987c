internal import Foundation
package import Model
package import Notifications
package import Providers
package import Tokens

/// Sends pushes to Android devices by Firebase Cloud Messaging, HTTP v1, as a service account of the app's project.
package struct FCMSender: PushSender {
    package static let defaultURL = "https://fcm.googleapis.com"
    package static let timeout = Duration.seconds(10)
    private static let maxResponseSize = 16 << 10

    private let url: String
    private let connection: ProviderConnection
    private let tokens: GoogleAccessTokens
    private let timeout: Duration

    /// - Parameters:
    ///   - url: of FCM, or of what stands in for it.
    ///   - authorities: a PEM file of authorities that are trusted beside the system's.
    package init(
        _ account: GoogleServiceAccount, url: String = Self.defaultURL, authorities: String? = nil,
        timeout: Duration = Self.timeout, now: @escaping @Sendable () -> Timestamp
    ) {
        self.url = "\(url)/v1/projects/\(account.project)/messages:send"
        self.timeout = timeout
        connection = ProviderConnection(authorities: authorities)
        tokens = GoogleAccessTokens(
            account, client: ProviderConnection(authorities: authorities), timeout: timeout, now: now)
    }

    package func send(_ message: PushMessage) async -> PushOutcome {
        guard case .fcm(let token) = message.address else { return .rejected("It is not for FCM.") }
        do throws(FCMMessage.Invalid) {
            let request = try FCMMessage(token: token, payload: message.payload, secondsToLive: message.secondsToLive)
            let limit = message.isUrgent ? min(timeout, ProviderConnection.urgentTimeout) : timeout
            switch await post(request, limit) {
            case .response(let response) where Self.isTaken(response): return .delivered
            case .response(let response): return FCMError(response, token: token).outcome(isUrgent: message.isUrgent)
            case .failed(let outcome): return outcome
            }
        } catch {
            return .rejected(
                error == .data ? "It is no flat JSON object." : "It has more than \(FCMMessage.maxDataSize) bytes.")
        }
    }

    /// Firebase names the message that it has taken: whoever else responds with 200 has not.
    private static func isTaken(_ response: ProviderClient.Response) -> Bool {
        struct Message: Decodable { var name: String }
        guard (200..<300).contains(response.status) else { return false }
        return (try? JSONDecoder().decode(Message.self, from: Data(response.body))) != nil
    }

    /// A refused access token is replaced once.
    private func post(_ message: FCMMessage, _ limit: Duration) async -> ProviderResult {
        let deadline = ContinuousClock.now + limit
        do {
            let token = try await tokens.token(deadline: deadline)
            let response = try await post(message, token, deadline)
            guard response.status == 401, FCMError(response, token: token).isOfAccessToken, tokens.reject(token) else {
                return .response(response)
            }
            return .response(try await post(message, try await tokens.token(deadline: deadline), deadline))
        } catch let failure as AccessTokenState.Failure {
            return .failed(.retry(after: failure.retryAfter, failure.reason))
        } catch ProviderFailure.cancelled {
            return .failed(.cancelled)
        } catch {
            return .failed(.unreachable("\(error)"))
        }
    }

    private func post(
        _ message: FCMMessage, _ token: String, _ deadline: ContinuousClock.Instant
    ) async throws(ProviderFailure) -> ProviderClient.Response {
        try await connection.post(
            message.body, to: url,
            headers: [("Content-Type", "application/json"), ("Authorization", "Bearer \(token)")],
            maxResponseSize: Self.maxResponseSize, deadline: deadline)
    }
}

// Trying it.
extension FCMSender {
    /// The token of no device.
    private static let noToken = "switchboard-check"

    /// Has FCM check a message to a device that does not exist: that it finds only this wrong shows that it takes the
    /// credentials. Whether the project is that of the app shows with the first device alone.
    package func check() async -> PushServiceCheck {
        let payload = Array(#"{"kind":"test"}"#.utf8)
        guard let message = try? FCMMessage(token: Self.noToken, payload: payload, secondsToLive: 0, isDryRun: true)
        else {
            return PushServiceCheck(kind: .fcm, problem: "The request could not be made.")
        }
        return await post(message, timeout).check(of: .fcm) { response in
            let error = FCMError(response, token: Self.noToken)
            return error.isOfUnknownDevice ? nil : error.reason
        }
    }
}
