import DatagramIO
import OpenSSLCrypto

/// Tests the certificate of an HTTPS address as browsers do: its dates, its name and its chain.
struct CertificateProbe: Sendable {
    let address: WebAddress
    let messages: WebMessages
    /// The name that clients use; nil if it is not known.
    let name: String?
    let authorities: String?
    /// What renews it.
    let renewal: String

    func run() -> CheckOutcome {
        do throws(WebConnection.Failure) {
            let connection = try WebConnection.open(address, name: name, authorities: authorities)
            guard let certificate = connection.certificate else {
                return .failed(CheckProblem("the server shows no certificate", remedy: "Check http.certificate."))
            }
            let now = SystemClock.unixSeconds()
            let label = "\(address)"
            if let problem = CheckMessages.certificateProblem(certificate, name: name, at: now, renewal: renewal) {
                return .failed(problem)
            }
            let warning = CheckMessages.warning(certificate, label, host: address.host, at: now, renewal: renewal)
            return .passed(
                "for \(CheckMessages.list(certificate.names)), trusted, good for another "
                    + CheckMessages.days(certificate.validUntil - now), warnings: warning.map { [$0] } ?? [])
        } catch {
            return .failed(messages.problem(error))
        }
    }
}
