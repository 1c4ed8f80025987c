import HTTPTypes
internal import Hummingbird
package import HummingbirdCore

/// What a browser gets that goes to a path where there is nothing: the page of the web client, with status 404. The page
/// goes on to the address in it that the path may have meant, or says that there is nothing and where to go.
///
/// Whoever does not ask for HTML gets a problem document, and under `/v1` everybody does.
package struct MissingPage: RouterMiddleware {
    package typealias Context = WebContext

    package init() {}

    package func handle(
        _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let missing as any HTTPResponseError where missing.status == .notFound {
            guard isNavigation(request), let page = WebFiles.client.page else { throw missing }
            var response = page.missingResponse(to: request)
            response.headers[values: .vary].append("Accept")
            return response
        }
    }

    /// Whether a person waits for a page. Scripts and pictures are asked for without naming HTML.
    private func isNavigation(_ request: Request) -> Bool {
        guard request.method == .get || request.method == .head else { return false }
        let path = request.uri.path
        guard path != "/v1", !path.hasPrefix("/v1/") else { return false }
        return request.headers[values: .accept].contains { value in
            value.lowercased().split(separator: ",").contains { range in
                range.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" } == "text/html"
            }
        }
    }
}
