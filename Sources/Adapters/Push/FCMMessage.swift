internal import Foundation
import Model
import Notifications

/// A message of Firebase Cloud Messaging, HTTP v1: data only, so that the app decides what is shown, also while it does not
/// run.
///
/// ```json
/// {"message": {"token": "…", "data": {"kind": "ring", "call": "…", …},
///              "android": {"priority": "HIGH", "ttl": "45s", "collapse_key": "…"}}}
/// ```
struct FCMMessage: Sendable {
    /// Of the names and values of `data`.
    static let maxDataSize = 4_096
    private static let collapsed: Set = ["ring", "ringEnded"]

    enum Invalid: Error, Hashable {
        case data
        case tooLarge
    }

    let body: [UInt8]

    /// - Parameters:
    ///   - payload: a JSON object without objects in it: FCM takes strings only, so its members become strings.
    ///   - isDryRun: whether FCM only checks the request.
    init(
        token: String, payload: [UInt8], secondsToLive: Int, isDryRun: Bool = false
    ) throws(Invalid) {
        guard let members = try? JSONDecoder().decode([String: PushMember].self, from: Data(payload)) else {
            throw .data
        }
        let data = members.mapValues(\.text)
        let size = data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard size <= Self.maxDataSize else { throw .tooLarge }
        var writer = JSONWriter(capacity: size + token.utf8.count + 256)
        writer.object { writer in
            if isDryRun { writer.member("validate_only", true) }
            writer.name("message")
            writer.object { writer in
                writer.member("token", token)
                writer.name("data")
                writer.object { writer in
                    for (name, value) in data.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
                }
                writer.name("android")
                writer.object { writer in
                    // Each of them changes at once what the user sees or hears.
                    writer.member("priority", "HIGH")
                    writer.member("ttl", "\(max(0, secondsToLive))s")
                    // A device has four keys at most, whose messages others would displace: only what ends soon has one.
                    if let kind = data["kind"], Self.collapsed.contains(kind), let user = data["user"],
                        let call = data["call"]
                    {
                        writer.member("collapse_key", CollapseKey.make(user: user, subject: call))
                    }
                }
            }
        }
        body = writer.bytes
    }
}
