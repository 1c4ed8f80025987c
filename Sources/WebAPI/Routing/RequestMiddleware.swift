import HTTPTypes
import Hummingbird
package import HummingbirdCore
import Logging
import Model

/// Gives every request an id, which its response has in `Switchboard-Request` and its log lines as `request`; and tells
/// the client its rate limit.
///
/// It is the first middleware, so that the responses of all others have the id too.
package struct RequestMiddleware: RouterMiddleware {
    package typealias Context = WebContext

    package init() {}

    package func handle(
        _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        let id = RequestID.make(traceparent: request.headers[.name("traceparent")])
        var context = context
        // Hummingbird's own id is only of this process.
        context.logger[metadataKey: "hb.request.id"] = "\(id.text)"
        var response = try await RequestID.$current.withValue(id) {
            do {
                return try await next(request, context)
            } catch let error as any HTTPResponseError {
                return try error.response(from: request, context: context)
            }
        }
        response.headers[.switchboardRequest] = id.text
        if let status = context.counted.status {
            response.headers[.rateLimitPolicy] = status.policyField
            response.headers[.rateLimit] = status.rateLimitField
        }
        return response
    }
}
