import HTTPTypes
import Hummingbird
import Model
import Realtime
import WebAPI

/// Refuses requests of the operator's page by an unknown host, and those of pages of other origins, before anything
/// else looks at them. Metrics and health checks are open.
struct OperatorMiddleware: RouterMiddleware {
    typealias Context = WebContext

    private static let open: Set = ["/metrics", "/livez", "/readyz"]

    let hosts: KnownHosts

    func handle(
        _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        guard !Self.open.contains(request.uri.path) else { return try await next(request, context) }
        let authority = request.head.authority
        guard hosts.contains(authority: authority) else {
            throw Problem(
                .forbidden,
                "The operator's page is not known as \(authority?.prefix(64) ?? "a request without Host"): open it by "
                    + "its address, or add the name to admin.hosts.", field: "Host")
        }
        guard AllowedOrigins([]).allows(origin: request.headers[.origin], host: authority) else {
            throw Problem(.forbidden, "A page of another origin may not use the operator's port.", field: "Origin")
        }
        return try await next(request, context)
    }
}
