import Synchronization

/// A value that is made when it is first asked for: once, however many ask meanwhile.
package final class OnDemand<Value: Sendable>: Sendable {
    private let make: @Sendable () -> Value
    private let task = Mutex<Task<Value, Never>?>(nil)

    package init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    package var value: Value {
        get async {
            let task = task.withLock { [make] task in
                let known = task ?? Task.detached { make() }
                task = known
                return known
            }
            return await task.value
        }
    }
}
