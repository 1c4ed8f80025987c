internal import Foundation

/// When a service accepts requests again, from the headers of its response:
///
/// ```
/// Retry-After: 20                                     (RFC 9110 section 10.2.3, also as a date)
/// retry-after-ms: 1500
/// x-ratelimit-reset-requests: 1s                      (OpenAI's, also 6m0s)
/// x-ratelimit-reset-tokens: 6m0s
/// anthropic-ratelimit-tokens-reset: 2026-01-01T00:00:00Z
/// ```
/// The first two say it for this request; the others say when a limit is as it was, the last of which counts.
package enum RetryTime {
    private static let limit = Duration.seconds(86_400)
    private static let durations = ["x-ratelimit-reset-requests", "x-ratelimit-reset-tokens"]
    private static let dates = ["requests", "tokens", "input-tokens", "output-tokens"].map {
        "anthropic-ratelimit-\($0)-reset"
    }

    /// - Parameters:
    ///   - header: returns the value of a header.
    ///   - now: seconds since 1970.
    /// - Returns: at most a day; nil if no header says it.
    package static func read(
        now: Double = Date().timeIntervalSince1970, _ header: (_ name: String) -> String?
    ) -> Duration? {
        if let time = header("retry-after-ms").flatMap(Double.init) { return bounded(time / 1000) }
        if let time = header("Retry-After") {
            let seconds = Double(time) ?? httpDate(time).map { max($0 - now, 0) }
            return seconds.flatMap { $0.isFinite ? bounded(min($0, Double(limit.components.seconds))) : nil }
        }
        let left =
            durations.compactMap { header($0).flatMap(seconds) }
            + dates.compactMap { name in
                header(name).flatMap(internetDate).map { max($0 - now, 0) }
            }
        return left.max().flatMap(bounded)
    }

    private static func bounded(_ seconds: Double) -> Duration? {
        guard seconds.isFinite, seconds >= 0, seconds <= Double(limit.components.seconds) else { return nil }
        return .milliseconds(Int64(seconds * 1000))
    }

    /// `6m0s`, `1h2m3.5s`, `20ms`, or seconds without a unit.
    private static func seconds(_ text: String) -> Double? {
        if let seconds = Double(text) { return seconds }
        var (sum, rest) = (0.0, text[...])
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isNumber || $0 == "." }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(unit.count)
            let factors = ["ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400]
            guard let number = Double(digits), let factor = factors[String(unit)] else { return nil }
            sum += number * factor
        }
        return text.isEmpty ? nil : sum
    }

    /// The three forms that recipients have to read (RFC 9110 section 5.6.7).
    private static func httpDate(_ text: String) -> Double? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        // Two digits of a year are of the last fifty years or of the next fifty.
        formatter.twoDigitStartDate = Date(timeIntervalSinceNow: -50 * 365.25 * 86_400)
        for format in [
            "EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy",
        ] {
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date.timeIntervalSince1970 }
        }
        return nil
    }

    private static func internetDate(_ text: String) -> Double? {
        let formatter = ISO8601DateFormatter()
        if let date = formatter.date(from: text) { return date.timeIntervalSince1970 }
        formatter.formatOptions.insert(.withFractionalSeconds)
        return formatter.date(from: text)?.timeIntervalSince1970
    }
}
