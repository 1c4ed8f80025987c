import HTTPTypes
package import MediaFiles
package import Model
package import Services
package import Storage
import Tokens

/// Serves media files at the URLs of `MediaLinks`, to players, which send no token.
///
/// The signature proves that the user had access to the file when the URL was signed. Whether they still have access is
/// checked for each request, and each second while a file is sent: the account must be active, the sign-in valid, and
/// the checker for the kind of resource that the file belongs to must agree.
package struct MediaOperations: Sendable {
    private static let path = "/v1/media/{file}"
    /// How long a file may still be sent after the access has ended.
    private static let interval = Duration.seconds(1)

    let files: MediaFiles
    let links: MediaLinks
    let store: Store
    let checkers: [MediaFile.Kind: MediaChecker]

    package init(
        files: MediaFiles, links: MediaLinks, store: Store, checkers: [MediaFile.Kind: MediaChecker]
    ) {
        self.files = files
        self.links = links
        self.store = store
        self.checkers = checkers
    }

    package var all: [DocumentOperation] { [operation("media.get", .get), operation("media.head", .head)] }

    private func operation(_ name: String, _ method: HTTPRequest.Method) -> DocumentOperation {
        let fileHeaders = [
            ("ETag", "The file's, which never changes."), ("Accept-Ranges", "bytes"),
            ("Content-Disposition", "A file name for saving."),
        ]
        return DocumentOperation(
            name: name, method: method, path: Self.path,
            summary: method == .get
                ? "A media file, at the URL that a document has for it." : "The same, without the content.",
            tag: "media", isPublic: true, signer: { Principal(user: try ticket(of: $0).user) },
            parameters: [
                .path("file", .identifier, "The file."),
                .query("user", .identifier, isRequired: true, "The user that the URL was signed for."),
                .query("session", .identifier, "The session whose end invalidates the URL."),
                .query("expires", .integer(0...(1 << 40)), isRequired: true, "Seconds since 1970."),
                .query("signature", .text(), isRequired: true, "The server's signature of these parameters."),
            ],
            headers: [
                ("Range", false, "One range of bytes."),
                ("If-Range", false, "The ETag of the file that the range is from."),
                ("If-None-Match", false, "An ETag; the response is 304 if it is this file's."),
            ],
            outcomes: [
                .init(
                    status: 200, description: "The file.", contentType: "audio/ogg", schema: .bytes,
                    headers: fileHeaders),
                .init(
                    status: 206, description: "The range.", contentType: "audio/ogg", schema: .bytes,
                    headers: fileHeaders + [("Content-Range", "The range, and the size of the file.")]),
                .init(status: 304, description: "The client's copy is current."),
                .init(
                    status: 416, description: "The range is not satisfiable.",
                    headers: [("Content-Range", "The size of the file.")]),
            ],
            problems: [.notFound]
        ) { request in
            try await respond(to: request, isHead: method == .head)
        }
    }

    private func respond(
        to request: DocumentOperation.Request, isHead: Bool
    ) async throws -> DocumentOperation.Output {
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
        // If the client has another version of the file, a range of this one is of no use.
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

    /// The file, if the ticket's owner has access to it.
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
        _ headers: HTTPFields, isHead: Bool
    ) -> DocumentOperation.Output {
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
                .forbidden, "This URL has expired, or was not signed by this server: fetch the document again.",
                field: "signature")
        }
        return ticket
    }
}
