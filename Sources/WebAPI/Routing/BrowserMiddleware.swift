import HTTPTypes
import Hummingbird
package import HummingbirdCore
import Model
import Services

/// Adds what browsers need to every response: CORS for the configured origins (Fetch standard, section 3.2), headers
/// against framing and content sniffing, and a problem document if no route was found.
package struct BrowserMiddleware: RouterMiddleware {
    package typealias Context = WebContext

    private let allowedOrigins: Set<String>

    package init(allowedOrigins: [String]) { self.allowedOrigins = Set(allowedOrigins) }

    package func handle(
        _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        let origin = request.headers[.origin].flatMap { allowedOrigins.contains($0) ? $0 : nil }
        var response: Response
        if request.method == .options {
            response = preflight(for: origin)
            // RFC 9725 section 4.1.
            if WHIPKind.isWHIP(path: request.uri.path) { response.headers[.name("Accept-Post")] = WHIPOperations.sdp }
        } else {
            do {
                response = try await next(request, context)
            } catch let error as any HTTPResponseError where error.status == .notFound {
                response = Response(problem: .notFound("address"))
            } catch let problem as Problem {
                response = Response(problem: problem)
            }
        }
        if let origin {
            response.headers[.accessControlAllowOrigin] = origin
            response.headers[values: .vary].append("Origin")
            response.headers[.accessControlExposeHeaders] =
                "Switchboard-Request, Retry-After, RateLimit, RateLimit-Policy, Location, ETag, Link, Accept-Patch, "
                + "Accept-Post, Accept-Ranges, Content-Range"
        }
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.name("Referrer-Policy")] = "no-referrer"
        return response
    }

    private func preflight(for origin: String?) -> Response {
        guard origin != nil else { return Response(status: .noContent) }
        return Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: "GET, POST, PUT, PATCH, DELETE",
                .accessControlAllowHeaders: "Authorization, Content-Type, If-Match, Switchboard-Endpoint, traceparent",
                .accessControlMaxAge: "600",
            ])
    }
}
