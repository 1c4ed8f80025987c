import Synchronization

/// A value that tests share between tasks and threads.
package final class Shared<Value: Sendable>: Sendable {
    private let box: Mutex<Value>
    package init(_ value: Value) { box = Mutex(value) }
    package var value: Value { box.withLock { $0 } }
    @discardableResult
    package func update<T: Sendable>(_ change: (inout Value) -> T) -> T { box.withLock { change(&$0) } }
}
