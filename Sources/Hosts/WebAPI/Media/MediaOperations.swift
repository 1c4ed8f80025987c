import HTTPTypes
package import MediaFiles
package import Model
package import Storage
import Tokens

/// Serves media files at the addresses that `MediaLinks` makes, to players, which send no token.
///
/// The signature says that the user might have the file when the address was made. Whether that still holds is asked
/// each time, and each second while a file is on its way: whether the account and the sign-in are what they were, and, of a
/// checker for the kind of thing that the file belongs to, whether the user may have it.
package struct MediaOperations: Sendable {
    /// Whether a user may have the files of a resource now.
    package typealias Checker = @Sendable (_ resource: String, UserID, StoreTransaction) throws -> Bool

    /// How long a file goes on after the right to it has ended.
    private static let interval = Duration.seconds(1)

    let files: MediaFiles
    let links: MediaLinks
    let store: Store
    let checkers: [MediaFile.Kind: Checker]

    package init(
        files: MediaFiles, links: MediaLinks, store: Store, checkers: [MediaFile.Kind: Checker]
    ) {
        self.files = files
        self.links = links
        self.store = store
        self.checkers = checkers
    }

    package var all: [DocumentOperation] { [operation("media.get", .get), operation("media.head", .head)] }

    private func operation(_ name: String, _ method: HTTPRequest.Method) -> DocumentOperation {
        let about = [
            ("ETag", "Of the file, which never changes."), ("Accept-Ranges", "bytes"),
            ("Content-Disposition", "A name to save it under."),
        ]
        return DocumentOperation(
            name: name, method: method, path: MediaLinks.path,
            summary: method == .get
                ? "A media file, at the address that a document has for it." : "The same without the bytes.",
            tag: "media", isPublic: true, signer: { Principal(user: try ticket(of: $0).user) },
            parameters: [
                .path("file", .identifier, "The file."),
                .query("user", .identifier, isRequired: true, "For whom the address was made."),
                .query("session", .identifier, "With whose end the address ends."),
                .query("expires", .integer(0...(1 << 40)), isRequired: true, "Seconds since 1970."),
                .query("signature", .text(), isRequired: true, "The server's, of all of that."),
            ],
            headers: [
                ("Range", false, "One range of bytes."), ("If-Range", false, "The ETag that the range is of."),
                ("If-None-Match", false, "An ETag: 304 when it is this file's."),
            ],
            outcomes: [
                .init(status: 200, meaning: "The file.", contentType: "audio/ogg", schema: .anything, headers: about),
                .init(
                    status: 206, meaning: "The range.", contentType: "audio/ogg", schema: .anything,
                    headers: about + [("Content-Range", "Which part of how many bytes.")]),
                .init(status: 304, meaning: "The client has it."),
                .init(
                    status: 416, meaning: "The range begins beyond the end.",
                    headers: [("Content-Range", "How many bytes there are.")]),
            ],
            problems: [.notFound]
        ) { request in
            try await answer(request, isHead: method == .head)
        }
    }

    private func answer(_ request: DocumentOperation.Request, isHead: Bool) async throws -> DocumentOperation.Answer {
        let ticket = try ticket(of: request)
        let media = try await media(of: ticket)
        let tag = "\"\(media.id)\""
        var headers: HTTPFields = [
            .eTag: tag, .cacheControl: "private, max-age=3600", .acceptRanges: "bytes",
            .contentDisposition: "inline; filename=\"\(media.kind.rawValue)-\(media.id).ogg\"",
        ]
        if let tags = request.headers[.ifNoneMatch], tags == "*" || tags.contains(tag) {
            return .init(status: 304, headers: headers)
        }
        let file = try await files.open(media.id)
        // A range of another file than the client has begun with is of no use to it.
        let isSame = request.headers[.ifRange].map { $0 == tag } ?? true
        switch ByteRange(isSame ? request.headers[.range] : nil, byteCount: file.byteCount) {
        case .whole:
            return body(
                of: file, for: ticket, 0..<file.byteCount, status: 200, media.contentType, headers, isHead: isHead)
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.byteCount)"
            return body(of: file, for: ticket, range, status: 206, media.contentType, headers, isHead: isHead)
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(file.byteCount)"
            return .init(status: 416, headers: headers)
        }
    }

    /// The file, for as long as the ticket's owner may have it.
    private func media(of ticket: MediaTicket) async throws -> MediaFile {
        try await store.read { [checkers] store in
            guard try store.isSignedIn(ticket.user, by: ticket.signIn), let media = try store.mediaFile(ticket.file),
                let checker = checkers[media.kind], try checker(media.resource, ticket.user, store)
            else { throw Problem.notFound("file", field: "file") }
            return media
        }
    }

    private func body(
        of file: StoredFile, for ticket: MediaTicket, _ range: Range<Int>, status: Int, _ contentType: String,
        _ headers: HTTPFields,
        isHead: Bool
    ) -> DocumentOperation.Answer {
        var headers = headers
        guard isHead else {
            let guarded = FileBody(file: file, range: range, interval: Self.interval) {
                _ = try await media(of: ticket)
            }
            return .init(status: status, body: .file(guarded), contentType: contentType, headers: headers)
        }
        headers[.contentLength] = String(range.count)
        return .init(status: status, contentType: contentType, headers: headers)
    }

    private func ticket(of request: DocumentOperation.Request) throws -> MediaTicket {
        let file = try request.identifier("file", of: FileID.self)
        let user = try request.identifier("user", of: UserID.self)
        guard let text = request.parameters["expires"], let expires = Int64(text), (0...(1 << 40)).contains(expires)
        else { throw Problem.invalid("expires", "expires must be seconds since 1970.") }
        guard let signature = request.parameters["signature"] else {
            throw Problem.invalid("signature", "signature is missing.")
        }
        let signIn =
            request.parameters["session"] == nil ? nil : try request.identifier("session", of: SignInID.self)
        let ticket = MediaTicket(file: file, user: user, signIn: signIn, expires: expires)
        guard links.accepts(ticket, signature: signature, at: Timestamp.systemClock()) else {
            throw Problem(
                .forbidden, "This address has run out, or is not one of this server's: ask for the document again.",
                field: "signature")
        }
        return ticket
    }
}
