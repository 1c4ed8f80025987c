package enum BearerToken {
    private static let scheme = "bearer "

    /// The token in an `Authorization` header (RFC 6750 section 2.1), whose scheme is case-insensitive. Nil if there is
    /// no header, or one of another scheme.
    package static func read(from authorization: String?) -> String? {
        guard let authorization, authorization.prefix(scheme.count).lowercased() == scheme else { return nil }
        return String(authorization.dropFirst(scheme.count))
    }
}
