package import HTTPTypes
package import Hummingbird
import Logging
import NIOCore

/// The context of a request, with the address that it came from.
package struct WebContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The client's address without the port, or `-` where there is none.
    package let clientAddress: String

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        clientAddress = source.channel.remoteAddress?.ipAddress ?? "-"
    }
}

extension HTTPField.Name {
    package static var switchboardEndpoint: Self { name("Switchboard-Endpoint") }

    // The names below are tokens of RFC 9110, so that the fallback is never taken.
    static func name(_ text: String) -> Self { Self(text) ?? .accept }
}
