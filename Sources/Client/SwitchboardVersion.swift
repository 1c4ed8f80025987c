/// The version of this library, by which it names itself to the server.
public enum SwitchboardVersion {
    /// The version (SemVer); the server of the same release has the same.
    public static let text = "0.1.0"

    /// The library's name in `User-Agent` and in the realtime `hello`.
    static let client = "Switchboard-Swift"

    /// The `User-Agent` of all requests (RFC 9110 section 10.1.5).
    static let userAgent = "\(client)/\(text) (\(platform))"

    private static var platform: String {
        #if os(iOS)
            "iOS"
        #elseif os(macOS)
            "macOS"
        #elseif os(Linux)
            "Linux"
        #else
            "other"
        #endif
    }
}
