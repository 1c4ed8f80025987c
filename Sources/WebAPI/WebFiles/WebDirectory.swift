import HTTPTypes
internal import Hummingbird
package import HummingbirdCore
import Logging

/// A folder whose files are served where there is no route: a web client instead of the one in the binary.
///
/// `/` is its `index.html`. The files are read for each request and revalidated by browsers, so that a changed one is
/// seen with the next reload. They have the content security policy of the embedded client: who signs in here has tokens
/// in this origin.
package struct WebDirectory: RouterMiddleware {
    package typealias Context = WebContext

    private let files: FileMiddleware<WebContext, LocalFileSystem>

    /// - Parameter path: the folder.
    package init(_ path: String) {
        files = FileMiddleware(path, searchForIndexHtml: true, logger: Logger(label: "http"))
            .withAdditionalMediaTypes(forFileExtensions: [
                "js": MediaType(type: .text, subType: "javascript"),
                "webmanifest": MediaType(type: .application, subType: "manifest+json"),
            ])
    }

    package func handle(
        _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let missing as any HTTPResponseError where missing.status == .notFound {
            // No escapes, which no file of a client needs, and nothing that is hidden, such as `.git`. What is above the
            // folder has both dots.
            guard !request.uri.path.contains("%"), !request.uri.path.contains("/.") else { throw missing }
            var response: Response
            do {
                response = try await files.handle(request, context: context) { _, _ in throw missing }
            } catch let missing as any HTTPResponseError where missing.status == .notFound {
                // A browser would keep the worker of the client in the binary, and its page, where none is found.
                guard request.uri.path == "/worker.js", let worker = WebFiles.plainWorker else { throw missing }
                response = worker.response(to: request)
            }
            response.headers[.cacheControl] = "no-cache"
            response.headers[.contentSecurityPolicy] = ContentSecurityPolicy.text
            return response
        }
    }
}
