/// The header `Accept-Encoding` (RFC 9110 section 12.5.3).
struct AcceptEncoding {
    /// Whether the client takes gzip: it names it, or everything, with a weight above zero.
    let allowsGzip: Bool

    /// - Parameter text: the value of the header, or nil if there is none: then nothing is compressed.
    init(_ text: String?) {
        var everything = false
        var gzip: Bool?
        for entry in (text ?? "").lowercased().split(separator: ",") {
            let parts = entry.split(separator: ";").map { $0.drop { $0 == " " || $0 == "\t" } }
            let coding = parts.first?.prefix { $0 != " " && $0 != "\t" }
            let isAllowed = !parts.dropFirst().contains { Self.isZero(weight: $0) }
            switch coding {
            case "gzip", "x-gzip": gzip = isAllowed
            case "*": everything = isAllowed
            default: break
            }
        }
        allowsGzip = gzip ?? everything
    }

    /// Whether a parameter is `q=0`, `q=0.0`, and so on.
    private static func isZero(weight: Substring) -> Bool {
        weight.hasPrefix("q=") && weight.dropFirst(2).allSatisfy { $0 == "0" || $0 == "." || $0 == " " }
    }
}
