import OpenSSLCrypto

/// Messages of `switchboard check` about certificates, which the API's port and the relay have in common.
enum CheckMessages {
    /// How many days before its expiry a certificate causes a warning.
    private static let warningDays: Int64 = 14
    static let reload = "Renew it, then `switchboard reload`."

    /// Why clients reject a certificate; nil if they accept it.
    ///
    /// - Parameters:
    ///   - name: the host that clients use; nil if it is not known, and then any name is right.
    ///   - unixSeconds: now.
    ///   - renewal: how to renew it.
    static func certificateProblem(
        _ certificate: PeerCertificate, name: String?, at unixSeconds: Int64, renewal: String = reload
    ) -> CheckProblem? {
        if certificate.validUntil <= unixSeconds {
            return CheckProblem(
                "the certificate expired \(days(unixSeconds - certificate.validUntil)) ago", remedy: renewal)
        }
        if certificate.validFrom > unixSeconds {
            return CheckProblem(
                "the certificate is valid only in \(days(certificate.validFrom - unixSeconds))",
                remedy: "Is the clock right?")
        }
        if let name, !certificate.matchesName {
            return CheckProblem(
                "the certificate is not for \(name) but for \(list(certificate.names)), and clients reject it",
                remedy: "Use one for \(name), or let clients use its name.")
        }
        if let trustError = certificate.trustError {
            return CheckProblem(
                "clients do not trust the certificate (\(trustError))",
                remedy: "Use one of a public authority with the whole chain in the file, or name your own authority "
                    + "with --authorities.")
        }
        return nil
    }

    /// A warning about a certificate that clients accept.
    ///
    /// - Parameters:
    ///   - label: of what shows it.
    ///   - host: the name or address to which the check connected.
    static func warning(
        _ certificate: PeerCertificate, _ label: String, host: String, at unixSeconds: Int64, renewal: String = reload
    ) -> String? {
        if !certificate.matchesName {
            return "The certificate on \(label) is for \(list(certificate.names)): clients must use that name, not "
                + "\(host). Check it with --name."
        }
        let left = certificate.validUntil - unixSeconds
        return left < warningDays * 86_400
            ? "The certificate on \(label) expires in \(days(left)). \(renewal)" : nil
    }

    static func days(_ seconds: Int64) -> String {
        let (count, unit) = seconds < 2 * 86_400 ? (seconds / 3600, "hours") : (seconds / 86_400, "days")
        return "\(count) \(unit)"
    }

    static func list(_ names: [String]) -> String { names.isEmpty ? "no name" : names.joined(separator: ", ") }
}
