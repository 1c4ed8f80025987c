import Foundation
import Notifications
import Services

/// Asks the running server whether devices that sleep are told. Services that check a request without a device are asked to.
/// Of browsers a subscription of its own is pushed to, where the operator has said where browsers subscribe.
struct PushProbe: Sendable {
    /// A push that waits for longer is a failure of the push service, not of a moment.
    private static let limit = 60.0

    let server: RunningServer
    /// Where browsers subscribe; nil to try none.
    var browsers: WebAddress?

    func run() async -> CheckOutcome {
        do throws(CheckProblem) {
            let text = try await server.ask(.push)
            guard let health = try? JSONDecoder().decode(PushHealth.self, from: Data(text.utf8)) else {
                throw CheckProblem("the server's pushes cannot be read", remedy: "Look at its log.")
            }
            let outcome = evaluate(health)
            guard case .passed(let text, let warnings) = outcome, let key = health.webKey, let browsers else {
                return outcome
            }
            try await WebPushProbe(address: browsers, serverKey: key) { request throws(CheckProblem) in
                let reason = try await server.ask(request)
                return reason.isEmpty ? nil : reason
            }.run()
            return .passed("\(text); a push to a browser came back", warnings: warnings)
        } catch {
            return .failed(error)
        }
    }

    func evaluate(_ health: PushHealth) -> CheckOutcome {
        let checks = health.checks ?? []
        guard health.isEnabled || !checks.isEmpty else {
            return .notConfigured("push.web.enabled is false, push.fcm.credentials and push.apns.key are empty")
        }
        let problems = checks.compactMap { check in check.problem.map { Self.problem(check.kind, $0) } }
        if !problems.isEmpty {
            return .failed(
                CheckProblem(
                    problems.map(\.detail).joined(separator: "; "),
                    remedy: problems.compactMap(\.remedy).joined(separator: " ")))
        }
        let services = (health.isEnabled ? ["browsers"] : []) + checks.map { $0.kind == .fcm ? "Android" : "iOS" }
        let names = services.joined(separator: ", ")
        if health.waiting > 0, health.oldestSeconds > Self.limit {
            return .failed(
                CheckProblem(
                    "\(health.waiting) pushes wait, the oldest for \(Int(health.oldestSeconds)) seconds"
                        + CheckProblem.clause(health.reason),
                    remedy: "Let this machine reach push services by HTTPS."))
        }
        guard health.registrations > 0 else { return .passed("\(names), of which none has registered yet") }
        let devices = health.registrations == 1 ? "1 device" : "\(health.registrations) devices"
        let contact =
            "Set push.web.contact to mailto:you@example.org or an https:// URL: some push services refuse pushes without one."
        let warnings = health.isEnabled && !health.hasContact ? [contact] : []
        return .passed("\(names), \(devices)", warnings: warnings)
    }

    private static func problem(_ kind: PushKind, _ reason: String) -> CheckProblem {
        guard kind == .fcm else {
            return CheckProblem(
                "Apple's push service would take no pushes\(CheckProblem.clause(reason))",
                remedy:
                    "Let this machine reach it by HTTPS, set this machine's clock, and compare push.apns.keyID, push.apns.team "
                    + "and push.apns.topic with the key of push.apns.key at Apple's developer site, which has to be for production."
            )
        }
        return CheckProblem(
            "Firebase Cloud Messaging would take no pushes\(CheckProblem.clause(reason))",
            remedy:
                "Let this machine reach FCM and Google's token endpoint by HTTPS, set this machine's clock, enable the Firebase "
                + "Cloud Messaging API (V1) of the project, and give the service account of push.fcm.credentials, whose key has to "
                + "exist still, the role Firebase Cloud Messaging API Admin.")
    }
}
