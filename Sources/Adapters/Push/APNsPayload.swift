internal import Foundation
import Model
import Notifications

/// What Apple's push service delivers: what is shown, and the members of the notification for the app.
///
/// ```json
/// {"aps": {"alert": {"title": "…", "body": "…"}, "badge": 3, "sound": "default", "thread-id": "…"}, "kind": "message", …}
/// ```
/// A push of PushKit shows nothing by itself: it has the members only.
struct APNsPayload: Sendable {
    static let maxSize = 4_096
    static let maxVoIPSize = 5_120

    enum Invalid: Error, Hashable {
        case data
        case tooLarge(limit: Int)
    }

    let body: [UInt8]
    /// Notifications of one call replace each other, and of one message.
    let collapseID: String?

    /// - Parameter payload: the JSON of a notification.
    init(_ payload: [UInt8], isVoIP: Bool) throws(Invalid) {
        guard let members = try? JSONDecoder().decode([String: PushMember].self, from: Data(payload)),
            members["kind"] != nil
        else { throw .data }
        // Title, body and badge are in `aps`, and the longest texts do not fit twice.
        let rest = isVoIP ? members : members.filter { $0.key != "title" && $0.key != "body" && $0.key != "badge" }
        var writer = JSONWriter(capacity: payload.count + 512)
        writer.object { writer in
            writer.name("aps")
            writer.object { writer in if !isVoIP { Self.write(members, &writer) } }
            for (name, value) in rest.sorted(by: { $0.key < $1.key }) { value.write(name, to: &writer) }
        }
        body = writer.bytes
        let subject =
            members["call"]?.text
            ?? members["conversation"].flatMap { id in members["number"].map { "\(id.text).\($0.text)" } }
        collapseID = subject.flatMap { subject in
            members["user"].map { CollapseKey.make(user: $0.text, subject: subject) }
        }
        let limit = isVoIP ? Self.maxVoIPSize : Self.maxSize
        guard body.count <= limit else { throw .tooLarge(limit: limit) }
    }

    private static func write(_ members: [String: PushMember], _ writer: inout JSONWriter) {
        writer.name("alert")
        writer.object { writer in
            for name in ["title", "body"] { members[name]?.write(name, to: &writer) }
        }
        members["badge"]?.write("badge", to: &writer)
        let kind = members["kind"]?.text
        if kind != "ringEnded" { writer.member("sound", "default") }
        writer.member("thread-id", (members["conversation"] ?? members["call"])?.text)
        if kind == "ring" { writer.member("interruption-level", "time-sensitive") }
        // An extension of the app may add the picture.
        writer.member("mutable-content", Int64(1))
    }
}
