import Foundation

/// Which web client is served.
struct WebClientSettings {
    /// The folder of another web client than the one in the binary, or nil.
    let directory: String?

    init(_ configuration: ServerConfiguration) throws {
        let path = configuration[\.http.webDirectory]
        directory = path.isEmpty ? nil : path
        guard path.isEmpty || FileManager.default.isReadableFile(atPath: path + "/index.html") else {
            throw ConfigurationError(
                "http.webDirectory: \(path) has no index.html that can be read: expected the folder of a web client.")
        }
    }
}
