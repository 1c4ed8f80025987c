/// A scalar of a normalized text, and the part of the text as it was written that it stands for, in UTF-16 code units.
package struct NormalizedScalar: Hashable, Sendable {
    package var scalar: Unicode.Scalar
    package var start: Int
    package var end: Int

    package init(_ scalar: Unicode.Scalar, start: Int, end: Int) {
        self.scalar = scalar
        self.start = start
        self.end = end
    }
}

/// Makes texts equal that look the same: composed (UAX #15, form C), and with wide and narrow characters in the width that
/// they usually have. File names of macOS and some keyboards write 한 as three scalars and й as two, and old systems ﾃ for テ.
///
/// All of it takes time that grows with the length of the text alone, however many marks one character has.
package enum NormalizedText {
    /// Whether what is before the scalar is normalized without it: most scalars, but for marks and what joins the one before.
    package static func isStable(_ scalar: Unicode.Scalar) -> Bool {
        // The first mark is U+0300.
        scalar.value < 0x300 || NormalizationProperties.shared.isStable(scalar)
    }

    /// The scalar itself unless it is wide or narrow.
    package static func inUsualWidth(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        guard (0xFF01...0xFFEE).contains(scalar.value) else { return scalar }
        return NormalizationProperties.shared[scalar].otherWidth ?? scalar
    }

    /// A whole text.
    package static func normalized(_ text: String) -> String {
        guard !text.unicodeScalars.allSatisfy({ $0.value < 0x300 }) else { return text }
        var scalars = text.unicodeScalars.map { NormalizedScalar($0, start: 0, end: 0) }
        normalize(&scalars)
        var result = String.UnicodeScalarView()
        result.append(contentsOf: scalars.lazy.map(\.scalar))
        return String(result)
    }

    /// Scalars in the order of a text, of which the first is stable or begins the text, and so is the one after the last.
    package static func normalize(_ scalars: inout [NormalizedScalar]) {
        let properties = NormalizationProperties.shared
        guard !isNormalized(scalars, properties) else { return }
        var whole: [NormalizedScalar] = []
        whole.reserveCapacity(scalars.count)
        for one in scalars { decompose(one, into: &whole, properties) }
        order(&whole, properties)
        compose(&whole, properties)
        scalars = whole
    }

    /// The first scalar of the canonical decomposition: a letter without its accents.
    package static func base(of scalar: Unicode.Scalar) -> Unicode.Scalar {
        var scalar = scalar
        while let first = NormalizationProperties.shared[scalar].first { scalar = first }
        return scalar
    }
}

extension NormalizedText {
    private static func isNormalized(_ scalars: [NormalizedScalar], _ properties: NormalizationProperties) -> Bool {
        var last: UInt8 = 0
        for one in scalars where one.scalar.value >= 0x300 {
            let entry = properties[one.scalar]
            guard entry.isComposed, entry.combiningClass == 0 || entry.combiningClass >= last else { return false }
            last = entry.combiningClass
        }
        return true
    }

    private static func decompose(
        _ one: NormalizedScalar, into whole: inout [NormalizedScalar], _ properties: NormalizationProperties
    ) {
        let entry = properties[one.scalar]
        if let first = entry.otherWidth ?? entry.first {
            decompose(NormalizedScalar(first, start: one.start, end: one.end), into: &whole, properties)
            guard let second = entry.second else { return }
            decompose(NormalizedScalar(second, start: one.start, end: one.end), into: &whole, properties)
        } else if let parts = HangulSyllable.parts(of: one.scalar) {
            whole += parts.map { NormalizedScalar($0, start: one.start, end: one.end) }
        } else {
            whole.append(one)
        }
    }

    /// Marks between two scalars of class zero by their classes; those of one class keep their order.
    private static func order(_ scalars: inout [NormalizedScalar], _ properties: NormalizationProperties) {
        var start = 0
        var (last, isOrdered): (UInt8, Bool) = (0, true)
        for end in 0...scalars.count {
            let combiningClass = end < scalars.count ? properties[scalars[end].scalar].combiningClass : 0
            if combiningClass == 0 {
                if !isOrdered { sort(&scalars, start..<end, properties) }
                (start, last, isOrdered) = (end + 1, 0, true)
            } else {
                isOrdered = isOrdered && combiningClass >= last
                last = combiningClass
            }
        }
    }

    /// A counting sort: there may be as many marks as the text is long.
    private static func sort(
        _ scalars: inout [NormalizedScalar], _ range: Range<Int>, _ properties: NormalizationProperties
    ) {
        var ends = [Int](repeating: 0, count: 257)
        let marks = Array(scalars[range])
        let classes = marks.map { Int(properties[$0.scalar].combiningClass) }
        for one in classes { ends[one + 1] += 1 }
        for index in 1..<ends.count { ends[index] += ends[index - 1] }
        for (mark, one) in zip(marks, classes) {
            scalars[range.lowerBound + ends[one]] = mark
            ends[one] += 1
        }
    }

    /// UAX #15 section 1.3 with the rule for marks of Unicode 15.0 section 3.11 (D117).
    private static func compose(_ scalars: inout [NormalizedScalar], _ properties: NormalizationProperties) {
        var count = 0
        var starter: Int?
        // The class of the last mark that stayed; nil directly after the starter.
        var last: UInt8?
        for one in scalars {
            let combiningClass = properties[one.scalar].combiningClass
            if let starter, last.map({ $0 < combiningClass }) ?? true,
                let whole = properties.whole(scalars[starter].scalar, one.scalar)
            {
                scalars[starter].scalar = whole
                scalars[starter].start = min(scalars[starter].start, one.start)
                scalars[starter].end = max(scalars[starter].end, one.end)
                continue
            }
            if combiningClass == 0 {
                (starter, last) = (count, nil)
            } else {
                last = combiningClass
            }
            scalars[count] = one
            count += 1
        }
        scalars.removeSubrange(count...)
    }
}
