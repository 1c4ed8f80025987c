import HTTPTypes
import Model
import SDP
import Services

/// The PATCH request by which WHIP and WHEP clients trickle candidates and restart ICE (RFC 9725 sections 4.3.1 to
/// 4.3.3).
enum TricklePatch {
    static let contentType = "application/trickle-ice-sdpfrag"
    static let header = (
        name: "If-Match", isRequired: false,
        description: "The session's ETag, or *; without it the response is 428. New credentials restart ICE."
    )
    static let outcomes: [DocumentOperation.Outcome] = [
        .init(status: 204, description: "The candidates were accepted; ICE goes on."),
        .init(
            status: 200, description: "ICE was restarted.", contentType: contentType, schema: .bytes,
            headers: [("ETag", "Identifies the new ICE session.")]),
    ]

    /// The credentials for an ICE restart; nil if candidates were trickled, or the client's credentials are as before.
    ///
    /// - Parameter match: the request's `If-Match`.
    static func restart(_ body: String, _ match: String?, current: MediaICESession) throws -> ICECredentials? {
        let asksForRestart = try Self.asksForRestart(match, current: current.tag)
        let fragment: TrickleFragment
        do {
            fragment = try TrickleFragment(parsing: body)
        } catch {
            throw Problem.invalid("body", "The body is not a valid SDP fragment: \(error).")
        }
        guard let credentials = fragment.newCredentials else {
            guard asksForRestart else { return nil }
            throw Problem.invalid("body", "To restart ICE, send the new a=ice-ufrag and a=ice-pwd.")
        }
        // Some clients send * with everything; nothing restarts then (section 4.3.2). With new credentials the old session
        // is dead, whatever the header says (section 4.3.3).
        return current.has(ufrag: credentials.ufrag, password: credentials.password) ? nil : credentials
    }

    /// The response to an ICE restart.
    static func response(sdp: String, tag: String) throws -> DocumentOperation.Output {
        .init(
            status: 200, body: .bytes(Array(try fragment(of: sdp).utf8)), contentType: contentType,
            headers: [.eTag: "\"\(tag)\""])
    }

    /// RFC 9725 sections 4.3.1 to 4.3.3.
    private static func asksForRestart(_ match: String?, current: String) throws -> Bool {
        guard let match else {
            throw Problem(.preconditionRequired, "Send If-Match with the session's ETag, or with *.", field: "If-Match")
        }
        if match.trimmed == "*" { return true }
        let tags = match.split(separator: ",").map { String($0).trimmed }
        guard tags.contains("\"\(current)\"") else {
            throw Problem(.preconditionFailed, "ICE was restarted since: this ETag is outdated.", field: "If-Match")
        }
        return false
    }

    /// The gateway's side of the new ICE session: the lines that have changed.
    private static func fragment(of answer: String) throws -> String {
        guard let description = try? SessionDescription(parsing: answer),
            let tagged = description.sections.first(where: { !$0.candidates.isEmpty }) ?? description.sections.first,
            let mid = tagged.mid, let ufrag = tagged.attributes.iceUfrag, let password = tagged.attributes.icePassword
        else { throw Problem(.internalError, "The gateway's answer cannot be read.") }
        var fragment = TrickleFragment()
        fragment.isICELite = true
        fragment.credentials = ICECredentials(ufrag: ufrag, password: password)
        fragment.sections = [
            .init(mid: mid, kind: tagged.kind, candidates: tagged.candidates, hasEndOfCandidates: true)
        ]
        return fragment.text
    }
}

extension String {
    fileprivate var trimmed: String {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return String(start[...end])
    }
}
