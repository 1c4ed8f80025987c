internal import CWebFiles
package import Hummingbird
import HummingbirdCore
import NIOCore

/// The files of a page that are embedded in the binary. `Scripts/web` bundles them.
package struct WebFiles: Sendable {
    let files: [WebFile]
    /// The index file and its path, such as `/` or `/admin`.
    private let index: (path: String, file: String)

    /// The web client, at `/`.
    package static let client = WebFiles(index: ("/", "/index.html")) {
        !$0.hasPrefix("/admin/") && !$0.hasPrefix("/docs/") && !$0.hasPrefix("/plain/")
    }
    /// The operator's page, at `/admin`.
    package static let admin = WebFiles(index: ("/admin", "/admin/index.html")) {
        $0.hasPrefix("/admin/") || $0 == "/favicon.svg"
    }

    /// The files that `/docs` is made with, by their names.
    static let docs = Dictionary(
        embedded.filter { $0.name.hasPrefix("/docs/") }.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    /// The name of the web client's build, which its page carries too.
    package static let build = String(cString: web_build())

    /// A service worker without a build: it removes itself and what earlier ones kept.
    static let plainWorker = embedded.first { $0.name == "/plain/worker.js" }

    private static let embedded = (0..<web_file_count()).compactMap { file(at: $0) }

    private init(index: (path: String, file: String), where isIncluded: (String) -> Bool) {
        self.index = index
        files = Self.embedded.filter { isIncluded($0.name) }
    }

    private static func file(at index: Int) -> WebFile? {
        guard let file = web_file_at(index)?.pointee, let bytes = file.bytes else { return nil }
        let compressed = file.compressed_bytes.map { UnsafeBufferPointer(start: $0, count: file.compressed_length) }
        return WebFile(
            String(cString: file.name), at: String(cString: file.path), contentType: String(cString: file.content_type),
            bytes: ByteBuffer(bytes: UnsafeBufferPointer(start: bytes, count: file.length)),
            compressed: compressed.map { ByteBuffer(bytes: $0) })
    }

    /// The page itself.
    var page: WebFile? { files.first { $0.name == index.file } }

    package func register(on router: Router<WebContext>) {
        for file in files {
            let paths = file.name == index.file ? [file.path, index.path] : [file.path]
            for path in paths {
                router.get(RouterPath(path)) { request, _ in file.response(to: request) }
                router.head(RouterPath(path)) { request, _ in file.response(to: request) }
            }
        }
    }
}
