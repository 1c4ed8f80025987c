import HTTPTypes
import Model
import SDP

/// The PATCH of a session's address by which WHIP and WHEP trickle candidates and restart ICE (RFC 9725 sections 4.3.1 to
/// 4.3.3).
enum TricklePatch {
    static let contentType = "application/trickle-ice-sdpfrag"
    static let header = (
        name: "If-Match", isRequired: false,
        meaning: "The session's ETag, or * to restart ICE; without it the answer is 428."
    )
    static let outcomes: [DocumentOperation.Outcome] = [
        .init(status: 204, meaning: "The candidates were heard."),
        .init(
            status: 200, meaning: "ICE is restarted.", contentType: contentType,
            headers: [("ETag", "Names the new ICE session.")]),
    ]

    /// With what ICE is to be restarted; nil where candidates were trickled.
    ///
    /// - Parameters:
    ///   - match: the request's `If-Match`.
    ///   - current: the session's tag.
    static func restart(_ body: String, _ match: String?, current: String) throws -> ICECredentials? {
        let wish = try Self.wish(match, current: current)
        let fragment: TrickleFragment
        do {
            fragment = try TrickleFragment(parsing: body)
        } catch {
            throw Problem.invalid("body", "The body is no fragment of SDP: \(error).")
        }
        guard wish == .restart else { return nil }
        guard let credentials = fragment.newCredentials else {
            throw Problem.invalid("body", "To restart ICE, bring its new a=ice-ufrag and a=ice-pwd.")
        }
        return credentials
    }

    /// What a restart is answered with.
    static func answer(sdp: String, tag: String) throws -> DocumentOperation.Answer {
        .init(
            status: 200, body: .bytes(Array(try fragment(of: sdp).utf8)), contentType: contentType,
            headers: [.eTag: "\"\(tag)\""])
    }

    private enum Wish {
        case trickle, restart
    }

    /// RFC 9725 sections 4.3.1 to 4.3.3.
    private static func wish(_ match: String?, current: String) throws -> Wish {
        guard let match else {
            throw Problem(.preconditionRequired, "Send If-Match with the session's ETag, or with *.", field: "If-Match")
        }
        if match.trimmed == "*" { return .restart }
        let tags = match.split(separator: ",").map { String($0).trimmed }
        guard tags.contains("\"\(current)\"") else {
            throw Problem(.preconditionFailed, "ICE was restarted since: this is not its ETag.", field: "If-Match")
        }
        return .trickle
    }

    /// The gateway's side of the new ICE session, as far as it has changed.
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
