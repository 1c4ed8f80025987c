package import Model

/// Where a search goes on.
package enum SearchCursor: Hashable, Sendable {
    /// With what is older.
    case date(before: SearchPosition)
    /// Among the candidates older than `top`, with those that come after one of this relevance and position.
    case relevance(top: SearchPosition, after: Double, SearchPosition)

    var order: SearchRequest.Order {
        switch self {
        case .date: .date
        case .relevance: .relevance
        }
    }

    static let isForeign = Problem.invalid("cursor", "This cursor does not belong to this search.")

    /// Safe in a URL: positions as time, conversation and number, divided by full stops.
    package var text: String {
        switch self {
        case .date(let position): Self.text(position)
        case .relevance(let top, let relevance, let position):
            "\(Self.text(top)).\(String(relevance.bitPattern, radix: 36)).\(Self.text(position))"
        }
    }

    /// - Throws: `invalid_request` of `cursor`.
    package init(text: String) throws(Problem) {
        // A text that is too long is not analysed.
        guard text.utf8.count <= 200 else { throw Self.isForeign }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        switch parts.count {
        case 3: self = .date(before: try Self.position(parts[0...2]))
        case 7:
            guard let bits = UInt64(parts[3], radix: 36) else { throw Self.isForeign }
            let relevance = Double(bitPattern: bits)
            guard relevance.isFinite else { throw Self.isForeign }
            self = .relevance(
                top: try Self.position(parts[0...2]), after: relevance, try Self.position(parts[4...6]))
        default: throw Self.isForeign
        }
    }

    private static func text(_ position: SearchPosition) -> String {
        let (time, number) = (position.sentAt.milliseconds, position.number)
        return "\(String(time, radix: 36)).\(position.conversation).\(String(number, radix: 36))"
    }

    private static func position(_ parts: ArraySlice<String>) throws(Problem) -> SearchPosition {
        guard let first = parts.first, let last = parts.last, let time = Int64(first, radix: 36),
            let id = ConversationID(parts[parts.startIndex + 1]), let number = Int64(last, radix: 36), number > 0
        else { throw isForeign }
        return SearchPosition(Timestamp(milliseconds: time), id, number)
    }
}
