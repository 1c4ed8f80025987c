/// Why a configuration cannot be used. The message names the key and its location.
package struct ConfigurationError: Error, CustomStringConvertible, Sendable {
    package let description: String

    package init(_ description: String) { self.description = description }
}
