import Synchronization

extension AsyncStream where Element: Equatable & Sendable {
    /// The elements without those that equal their predecessor, as this reader sees them: when a bounded buffer drops
    /// an element, its neighbours may be equal.
    func withoutRepeats() -> AsyncStream {
        let last = Last()
        return AsyncStream(unfolding: {
            var iterator = makeAsyncIterator()
            while let element = await iterator.next() {
                if last.replace(with: element) != element { return element }
            }
            return nil
        })
    }

    /// The element that was returned last.
    private final class Last: Sendable {
        private let element = Mutex<Element?>(nil)

        /// Returns the one before.
        func replace(with new: Element) -> Element? {
            element.withLock { element in
                defer { element = new }
                return element
            }
        }
    }
}
