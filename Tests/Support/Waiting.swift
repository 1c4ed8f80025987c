/// A condition did not come true in time.
package struct WaitTimeout: Error, CustomStringConvertible {
    package let description: String
}

/// Waits until it is so, for at most a minute.
///
/// - Parameter seen: what is told of a failure, as it was last.
package func eventually(
    _ condition: () async throws -> Bool, seen: () async throws -> Any = { "false" }, file: StaticString = #fileID,
    line: Int = #line
) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try await !condition() {
        guard ContinuousClock.now < end else {
            throw WaitTimeout(description: "\(file):\(line): timed out after 60 s; last seen: \(try await seen())")
        }
        try await Task.sleep(for: .milliseconds(2))
    }
}
