internal import CWebFiles
import Crypto
import HTTPTypes
package import Hummingbird
import HummingbirdCore
import NIOCore

/// Files that are embedded in the binary, served with an entity tag so that browsers revalidate their copies.
package struct WebFiles: Sendable {
    struct File: Sendable {
        let path: String
        let contentType: String
        let bytes: ByteBuffer
        let entityTag: String
    }

    private let files: [File]
    /// The index file and its path, such as `/` or `/admin`.
    private let index: (path: String, file: String)

    /// The web client, at `/`.
    package static let client = WebFiles(index: ("/", "/index.html")) {
        !$0.hasPrefix("/admin/") && !$0.hasPrefix("/docs/")
    }
    /// The operator's page, at `/admin`, with what it shares with the web client.
    package static let admin = WebFiles(index: ("/admin", "/admin/index.html")) {
        $0.hasPrefix("/admin/") || sharedWithAdmin.contains($0)
    }

    private static let sharedWithAdmin: Set = [
        "/scripts/dom.js", "/scripts/icons.js", "/styles/base.css", "/styles/controls.css", "/favicon.svg",
    ]

    /// The files that `/docs` is made with, by their paths.
    static let docs = Dictionary(
        (0..<web_file_count()).compactMap { file(at: $0) }.filter { $0.path.hasPrefix("/docs/") }.map { ($0.path, $0) },
        uniquingKeysWith: { first, _ in first })

    private init(index: (path: String, file: String), where isIncluded: (String) -> Bool) {
        self.index = index
        files = (0..<web_file_count()).compactMap { Self.file(at: $0) }.filter { isIncluded($0.path) }
    }

    private static func file(at index: Int) -> File? {
        guard let file = web_file_at(index)?.pointee, let bytes = file.bytes else { return nil }
        let buffer = ByteBuffer(bytes: UnsafeBufferPointer(start: bytes, count: file.length))
        return self.file(String(cString: file.path), String(cString: file.content_type), buffer)
    }

    static func file(_ path: String, _ contentType: String, _ bytes: ByteBuffer) -> File {
        let digest = SHA256.hash(data: bytes.readableBytesView).prefix(12)
        let tag = digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return File(path: path, contentType: contentType, bytes: bytes, entityTag: "\"\(tag)\"")
    }

    package func register(on router: Router<WebContext>) {
        for file in files {
            router.get(RouterPath(file.path)) { request, _ in Self.response(with: file, to: request) }
            router.head(RouterPath(file.path)) { request, _ in Self.response(with: file, to: request) }
            if file.path == index.file {
                router.get(RouterPath(index.path)) { request, _ in Self.response(with: file, to: request) }
                router.head(RouterPath(index.path)) { request, _ in Self.response(with: file, to: request) }
            }
        }
    }

    static func response(with file: File, to request: Request) -> Response {
        var headers: HTTPFields = [
            .eTag: file.entityTag, .cacheControl: "no-cache",
            // The page loads nothing from other origins; `ws:` and `wss:` are for its own WebSocket, which 'self' does
            // not cover in every browser.
            .contentSecurityPolicy:
                "default-src 'self'; img-src 'self' data:; media-src 'self' blob:; connect-src 'self' ws: wss:; "
                + "frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
        ]
        if request.headers[.ifNoneMatch]?.contains(file.entityTag) == true {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = file.contentType
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: file.bytes))
    }
}
