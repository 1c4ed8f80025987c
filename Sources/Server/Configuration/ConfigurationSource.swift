import Foundation

/// Where a configuration is read from, so that a running server can read it again.
package struct ConfigurationSource: Sendable {
    private let file: String?
    private let arguments: [String]
    private let environment: @Sendable () -> [String: String]

    package init(
        file: String?, arguments: [String],
        environment: @escaping @Sendable () -> [String: String] = { ProcessInfo.processInfo.environment }
    ) {
        self.file = file
        self.arguments = arguments
        self.environment = environment
    }

    package func read() throws -> ServerConfiguration {
        try ServerConfiguration(file: file, arguments: arguments, environment: environment())
    }
}
