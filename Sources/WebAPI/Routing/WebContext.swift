package import HTTPTypes
package import Hummingbird
package import HummingbirdCore
import Logging
import Model
package import NIOCore

/// The context of a request, with the client's address.
package struct WebContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The client's address for rate limits, or `-` if it is not known. `ClientAddressMiddleware` sets it.
    package fileprivate(set) var clientAddress = "-"
    /// The rate limit that the request was counted against.
    let counted = CountedLimit()
    fileprivate let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Determines the client's address of a request, which behind proxies is in a header.
package struct ClientAddressMiddleware: RouterMiddleware {
    package typealias Context = WebContext
    /// Returns the address for rate limits, from the connection and from the values of a header by its name.
    package typealias Finder = @Sendable (any Channel, _ header: (String) -> [String]) -> String

    private let find: Finder

    package init(find: @escaping Finder) { self.find = find }

    package func handle(
        _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.clientAddress = find(context.channel) { name in
            HTTPField.Name(name).map { request.headers[values: $0] } ?? []
        }
        return try await next(request, context)
    }
}

extension HTTPField.Name {
    package static var switchboardEndpoint: Self { name("Switchboard-Endpoint") }
    static var switchboardRequest: Self { name(RequestID.headerName) }
    static var xAccelBuffering: Self { name("X-Accel-Buffering") }
    static var rateLimit: Self { name("RateLimit") }
    static var rateLimitPolicy: Self { name("RateLimit-Policy") }

    // All names are valid tokens (RFC 9110), so the fallback is never used.
    static func name(_ text: String) -> Self { Self(text) ?? .accept }
}
