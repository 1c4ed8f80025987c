import WebAPI
import Wire

/// The hosts by which the operator's page may be addressed.
///
/// A page of another site whose name is made to resolve to this machine (DNS rebinding) has that name in `Host`, and its
/// scripts are of the same origin for the browser. So an unknown name is refused. Loopback is always known.
struct KnownHosts: Sendable {
    private let names: Set<String>

    /// - Parameter names: names and addresses, without ports. Wildcard addresses are nobody's.
    init(_ names: [String]) {
        self.names = Set(names.map(Self.canonical).filter { IPAddress($0)?.isUnspecified != true })
    }

    /// - Parameter authority: of the request, such as `localhost:8081`; nil without `Host`.
    func contains(authority: String?) -> Bool {
        guard let host = authority.flatMap({ HostName.withoutPort($0) }).map(Self.canonical) else { return false }
        return Self.isLoopback(host) || names.contains(host)
    }

    static func isLoopback(_ host: String) -> Bool {
        let host = canonical(host)
        return host == "localhost" || IPAddress(host)?.isLoopback == true
    }

    /// Whether a text can be a host: a name or an address, without a port.
    static func isName(_ text: String) -> Bool {
        let name = canonical(text)
        if IPAddress(name) != nil { return true }
        return (1...253).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// In lower case, without brackets of IPv6 and the final dot of a name; addresses in their shortest form.
    private static func canonical(_ host: String) -> String {
        var host = host.lowercased()
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.hasSuffix(".") { host.removeLast() }
        return IPAddress(host)?.description ?? host
    }
}
