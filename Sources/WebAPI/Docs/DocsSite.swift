import HTTPTypes
package import Hummingbird
import HummingbirdCore
import NIOCore

/// `/docs`: the guides, and references made from `/openapi.json`, `/asyncapi.json` and the settings.
///
/// Static pages that can be read without script, under the web client's content security policy. They are rendered once,
/// when somebody first reads one.
package struct DocsSite: Sendable {
    private let files: OnDemand<[String: WebFile]>

    package init(
        openAPI: OpenAPIDocument, asyncAPI: AsyncAPIDocument, settings: [DocsSetting], version: String
    ) {
        files = OnDemand {
            let pages = Self.pages(openAPI: openAPI, asyncAPI: asyncAPI, settings: settings)
            let layout = DocsLayout(pages: pages, version: version)
            let html = (pages + [Self.missing]).map { page in
                WebFile(
                    page.path, contentType: "text/html; charset=utf-8",
                    bytes: ByteBuffer(string: layout.html(of: page)))
            }
            let index = WebFile(
                "/docs/search.json", contentType: "application/json",
                bytes: ByteBuffer(string: layout.searchIndex.encoded))
            let all = WebFiles.docs.values + html + [index]
            return Dictionary(all.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// Every page, in the order of the navigation.
    static func pages(
        openAPI: OpenAPIDocument, asyncAPI: AsyncAPIDocument, settings: [DocsSetting]
    ) -> [DocsPage] {
        let realtime = asyncAPI.json
        let documents = Set(openAPI.schemas.map(\.0))
        let frames = RealtimeReference.names(in: realtime, without: documents)
        let table = SchemaTable { name in
            if documents.contains(name) { return "\(APIReference.typesPath)#\(name)" }
            return frames.contains(name) ? "\(RealtimeReference.path)#\(name)" : nil
        }
        let api = APIReference(openAPI, table: table)
        let reference = RealtimeReference(
            document: realtime, table: table, address: { api.address(of: $0) }, names: frames)
        return DocsGuides.pages + api.pages
            + [reference.page, ErrorReference(api: api, table: table).page, DocsSetting.page(settings)]
    }

    static let missing: DocsPage = {
        var page = DocsPage("/docs/404", "No such page", "There is no page at this address.")
        page.paragraph("Look in the list of pages, or begin at the [start](/docs).")
        return page
    }()

    package func register(on router: Router<WebContext>) {
        for path in ["/docs", "/docs/**"] {
            router.get(RouterPath(path)) { request, _ in await response(to: request) }
            router.head(RouterPath(path)) { request, _ in await response(to: request) }
        }
    }

    private func response(to request: Request) async -> Response {
        let files = await files.value
        let path = request.uri.path.hasSuffix("/") ? String(request.uri.path.dropLast()) : request.uri.path
        if path != Self.missing.path, let file = files[path] {
            return file.response(to: request)
        }
        guard let missing = files[Self.missing.path] else { return Response(status: .notFound) }
        return missing.missingResponse(to: request)
    }
}
