package import Model

/// A place in the order of events, as pullers keep it: `<epoch>.<number>`. The epoch changes when the database is restored.
package struct EventPosition: Hashable, Sendable {
    private static let maxLength = 64

    package let epoch: String
    package let number: Int64

    package init(epoch: String, number: Int64) {
        self.epoch = epoch
        self.number = number
    }

    /// - Throws: `invalid_request` of the field `after`.
    package init(_ text: String) throws(Problem) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.maxLength, parts.count == 2, let epoch = parts.first, !epoch.isEmpty,
            let digits = parts.last, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits)
        else {
            throw .invalid("after", "Expected the `next` of an earlier response.")
        }
        self.init(epoch: String(epoch), number: number)
    }

    package var text: String { "\(epoch).\(number)" }

    /// The number, if what follows it is kept.
    ///
    /// - Throws: `gone`, with the position of the oldest event that is kept as `next`.
    package func number(epoch current: String, _ kept: ClosedRange<Int64>) throws(Problem) -> Int64 {
        guard epoch == current, kept.contains(number) else {
            let oldest = Self(epoch: current, number: kept.lowerBound)
            var writer = JSONWriter()
            writer.write(oldest.text)
            throw Problem(
                .gone, "Events after this position were removed, or the server was restored from a backup.",
                field: "after", members: ["next": writer.text])
        }
        return number
    }
}
