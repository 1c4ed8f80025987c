package import HTTPTypes
package import Hummingbird
package import HummingbirdCore
import Logging
package import NIOCore

/// The context of a request, with the address that it came from.
package struct WebContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The client's address as limits count it, or `-` where it is not known. `ClientAddressMiddleware` finds it out.
    package fileprivate(set) var clientAddress = "-"
    fileprivate let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Finds out where the client of a request is, which behind proxies stands in its headers.
package struct ClientAddressMiddleware: RouterMiddleware {
    package typealias Context = WebContext
    /// The address as limits count it, from the connection and from the lines of a header by its name.
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

    // The names below are tokens of RFC 9110, so that the fallback is never taken.
    static func name(_ text: String) -> Self { Self(text) ?? .accept }
}
