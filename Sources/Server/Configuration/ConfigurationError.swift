/// A configuration that cannot be used, in words that name the key and where it was read.
package struct ConfigurationError: Error, CustomStringConvertible, Sendable {
    package let description: String

    package init(_ description: String) { self.description = description }
}
