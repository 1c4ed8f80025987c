/// Where a text has what was searched for.
package struct SearchMatch: Hashable, Sendable {
    /// A part of the text, in UTF-16 code units.
    package struct Range: Hashable, Sendable {
        package var start: Int
        package var length: Int

        package init(start: Int, length: Int) {
            self.start = start
            self.length = length
        }
    }

    /// More are left out.
    package static let maxRanges = 100

    /// In the order of the text, apart from each other. Whole words, also of those of which the beginning was searched.
    package var ranges: [Range]
    /// How well the text fits the query: see `SearchRelevance`.
    package var relevance: Double

    /// Nil if the text does not have all phrases of the query.
    package init?(_ query: SearchQuery, in text: String) {
        var steps = 0
        self.init(query, in: text, counting: &steps)
    }

    /// - Parameter steps: raised by what it did beside dividing the text: the words that were compared with those of
    ///   phrases, and the occurrences of phrases that were compared with each other.
    init?(_ query: SearchQuery, in text: String, counting steps: inout Int) {
        let units = SearchTokenizer.units(in: text)
        var occurrences: [[Int]] = []
        for phrase in query.phrases {
            steps += units.count
            let found = phrase.occurrences(in: units)
            guard !found.isEmpty else { return nil }
            occurrences.append(found)
        }
        ranges = Self.ranges(of: query, occurrences, in: units)
        relevance = SearchRelevance.relevance(of: query, occurrences, in: units, counting: &steps)
    }

    private static func ranges(
        of query: SearchQuery, _ occurrences: [[Int]], in units: [SearchTokenizer.Unit]
    ) -> [Range] {
        var found: [Range] = []
        for (phrase, starts) in zip(query.phrases, occurrences) {
            for start in starts.prefix(maxRanges) {
                let first = units[start].start
                found.append(Range(start: first, length: units[start + phrase.units.count - 1].end - first))
            }
        }
        found.sort { ($0.start, -$0.length) < ($1.start, -$1.length) }
        var joined: [Range] = []
        for range in found {
            guard let last = joined.last, range.start < last.start + last.length else {
                joined.append(range)
                continue
            }
            joined[joined.count - 1].length = max(last.length, range.start + range.length - last.start)
        }
        return Array(joined.prefix(maxRanges))
    }
}

/// How well a text fits a query. All candidates have all phrases, so that how rare each is says nothing.
///
/// The sum over the phrases of BM25's term frequency (k1 = 1.2, b = 0.75, for a text of 16 words; Robertson and
/// Zaragoza, "The Probabilistic Relevance Framework", 2009), of which a phrase whose last word is only the beginning of
/// one has half; and, for several phrases, 2 where they stand next to each other, less the further they are apart.
enum SearchRelevance {
    private static let (k1, b, usualLength) = (1.2, 0.75, 16.0)

    static func relevance(
        of query: SearchQuery, _ occurrences: [[Int]], in units: [SearchTokenizer.Unit], counting steps: inout Int
    ) -> Double {
        let norm = k1 * (1 - b + b * Double(units.count) / usualLength)
        var sum = 0.0
        for (phrase, starts) in zip(query.phrases, occurrences) {
            let last = phrase.units.count - 1
            let isWhole =
                !phrase.isPrefix || starts.contains { units[$0 + last].term == phrase.units[last].term }
            let frequency = Double(starts.count)
            sum += (isWhole ? 1 : 0.5) * frequency * (k1 + 1) / (frequency + norm)
        }
        guard query.phrases.count > 1 else { return sum }
        return sum + 2 / (1 + Double(gap(of: query, occurrences, counting: &steps)))
    }

    /// Occurrences of a phrase that are compared with those of others: the first ones.
    private static let maxCompared = 256

    /// The words between the phrases where they are nearest to each other.
    private static func gap(
        of query: SearchQuery, _ occurrences: [[Int]], counting steps: inout Int
    ) -> Int {
        var indices = occurrences.map { _ in 0 }
        var least = Int.max
        let length = query.phrases.reduce(0) { $0 + $1.units.count }
        while true {
            steps += indices.count
            var (first, firstStart, end) = (0, Int.max, 0)
            for (phrase, index) in indices.enumerated() {
                let start = occurrences[phrase][index]
                if start < firstStart { (first, firstStart) = (phrase, start) }
                end = max(end, start + query.phrases[phrase].units.count)
            }
            least = min(least, max(0, end - firstStart - length))
            // Only a later beginning can be nearer to the others.
            indices[first] += 1
            guard indices[first] < min(occurrences[first].count, maxCompared) else { return least }
        }
    }
}
