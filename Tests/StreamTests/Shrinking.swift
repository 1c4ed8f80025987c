/// The fewest elements that still fail: parts are left out, smaller and smaller ones, as long as any can be.
func shrink<Element>(
    _ elements: [Element], fails: ([Element]) async throws -> Bool
) async rethrows -> [Element] {
    var (kept, size) = (elements, elements.count / 2)
    while size > 0 {
        var (start, hasShrunk) = (0, false)
        while start < kept.count {
            var fewer = kept
            fewer.removeSubrange(start..<min(start + size, kept.count))
            if try await fails(fewer) {
                (kept, hasShrunk) = (fewer, true)
            } else {
                start += size
            }
        }
        if !hasShrunk || size > kept.count { size = min(size / 2, kept.count) }
    }
    return kept
}
