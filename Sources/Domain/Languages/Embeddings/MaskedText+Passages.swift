extension MaskedText {
    /// The text in pieces of which vectors are made, without what is the same in every language or nobody else's business:
    /// that is found by words. Divided between sentences where it is long; what is beyond the last piece is left out.
    ///
    /// - Returns: none without words.
    package func passages(maxLength: Int = 800, maxCount: Int = Int(VectorBlock.maxChunks)) -> [String] {
        guard hasWords else { return [] }
        let text = parts.reduce(into: "") { text, part in
            if case .text(let words) = part { text += words } else { text += " " }
        }
        let whole = MaskedText(text, keeping: [])
        let pieces = DividedText(whole, maxLength: maxLength)?.pieces.map(\.text) ?? [whole.prefix(maxLength)]
        return pieces.prefix(maxCount).filter(\.hasWords).map(\.original)
    }

    /// Of a word that is longer than a piece.
    private func prefix(_ length: Int) -> MaskedText {
        MaskedText(String(String.UnicodeScalarView(original.unicodeScalars.prefix(length))), keeping: [])
    }
}
