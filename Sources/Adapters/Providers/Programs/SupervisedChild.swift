internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization

/// Programs that keep running, joined by pipes, and answer one request after the other. They are started when there is a
/// request, and ended when there has been none for a while.
///
/// They have the priority and the address space that `ProgramSpawn` gives them and listen nowhere. They are killed when a
/// request takes too long or its response is not one, and started again as `RestartPolicy` says; a request that waits
/// meanwhile is given to the new ones. They end when their input closes, so also when this process is killed: programs
/// that go on regardless must not be used with it.
///
/// A thread does all this, which ends with the programs.
package final class SupervisedChild: Sendable {
    package struct Limits: Sendable {
        package var request = Duration.seconds(5)
        /// From their start until they have answered the first request, which is a test.
        package var start = Duration.seconds(60)
        package var idle = Duration.seconds(300)
        package var maxResponseSize = 1 << 20
        /// Of each program, in bytes.
        package var addressSpace: UInt = 1 << 30
        var restarts = RestartPolicy()

        package init() {}
    }

    package struct Program: Sendable {
        /// Each with its arguments; each reads what the one before it writes.
        package var commands: [[String]]
        package var environment: [String: String] = [:]
        /// A response ends with the `delimiterCount`th of these bytes.
        package var delimiter: UInt8
        package var delimiterCount: Int
        /// Makes a request whose response shows that they work.
        package var test: @Sendable () -> Request

        package init(
            commands: [[String]], environment: [String: String] = [:], delimiter: UInt8, delimiterCount: Int,
            test: @escaping @Sendable () -> Request
        ) {
            self.commands = commands
            self.environment = environment
            self.delimiter = delimiter
            self.delimiterCount = delimiterCount
            self.test = test
        }
    }

    package struct Request: Sendable {
        package var bytes: [UInt8]
        /// Hashes of what may end the programs, as `fatalCount` counts it.
        package var keys: [Int]
        /// Whether this is the response to it.
        package var accepts: @Sendable ([UInt8]) -> Bool

        package init(_ bytes: [UInt8], keys: [Int] = [], accepts: @escaping @Sendable ([UInt8]) -> Bool) {
            self.bytes = bytes
            self.keys = keys
            self.accepts = accepts
        }
    }

    package struct Status: Hashable, Sendable {
        package var isRunning = false
        /// They have ended too often.
        package var isOff = false
        /// How often they were started.
        package var starts = 0
        /// How often they ended that should have gone on.
        package var ends = 0
    }

    private struct State {
        var waiting: [PendingResponse] = []
        var hasThread = false
        var isResting = false
        var group: pid_t = 0
        var restarts: RestartPolicy
        var fatal = FatalRequests()
        var status = Status()
        var ended: [CheckedContinuation<Void, Never>] = []
    }

    private let program: Program
    private let limits: Limits
    private let state: Mutex<State>
    private let wake = DispatchSemaphore(value: 0)

    package init(_ program: Program, limits: Limits = Limits()) {
        self.program = program
        self.limits = limits
        state = Mutex(State(restarts: limits.restarts))
    }

    package var status: Status {
        state.withLock { state in
            var status = state.status
            status.isOff = state.restarts.isOff
            return status
        }
    }

    /// How often the programs ended or had to be killed over a request with this key.
    package func fatalCount(_ key: Int) -> Int { state.withLock { $0.fatal.count(key) } }

    package func response(
        to request: Request, deadline: ContinuousClock.Instant
    ) async throws(ProviderFailure) -> [UInt8] {
        try await Deadline.race(deadline) { () async throws(ProviderFailure) in
            let pending = PendingResponse(request)
            return try await pending.response {
                self.state.withLock { state in
                    state.waiting.append(pending)
                    if !state.hasThread { self.startThread(&state) }
                }
                self.wake.signal()
            }
        }
    }

    /// Ends the programs after the requests that wait; another request starts them again.
    package func rest() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                guard state.hasThread else { return true }
                state.isResting = true
                state.ended.append(continuation)
                return false
            }
            if isDone { continuation.resume() } else { wake.signal() }
        }
    }

    /// Forgets how often they ended, so that they are started again.
    package func reset() { state.withLock { $0.restarts.reset() } }

    private func startThread(_ state: inout State) {
        state.hasThread = true
        let thread = Thread {
            // A program that does not read its input must not kill this process; the mask ends with the thread.
            var mask = sigset_t()
            sigemptyset(&mask)
            sigaddset(&mask, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &mask, nil)
            self.serve()
        }
        thread.name = "engine"
        thread.start()
    }
}

// On the thread.
extension SupervisedChild {
    private enum Step {
        case serve(PendingResponse)
        case wait(DispatchTime)
        case fail([PendingResponse], ProviderFailure)
        case start
        case rest
    }

    private func serve() {
        var pipeline: ChildPipeline?
        var idleSince = ContinuousClock.now
        while true {
            switch next(isRunning: pipeline != nil, idleSince: idleSince) {
            case .wait(let time): _ = wake.wait(timeout: time)
            case .fail(let pending, let failure): for one in pending { one.finish(.failure(failure)) }
            case .start:
                pipeline = start()
                idleSince = .now
            case .serve(let pending):
                guard let running = pipeline else { continue }
                if !PipelineExchange.isReady(running) {
                    // It is not this request that ended them.
                    _ = kill(running, keys: [])
                    state.withLock { $0.waiting.insert(pending, at: 0) }
                    pipeline = nil
                } else if !serve(pending, running) {
                    pipeline = nil
                }
                idleSince = .now
            case .rest:
                if let running = pipeline { end(running) }
                pipeline = nil
                if finishThread() { return }
            }
        }
    }

    private func next(isRunning: Bool, idleSince: ContinuousClock.Instant) -> Step {
        state.withLock { state in
            let now = ContinuousClock.now
            state.waiting.removeAll(where: \.isFinished)
            guard !state.waiting.isEmpty else {
                let left = now.duration(to: idleSince + limits.idle)
                // Without programs there is nothing to wait for.
                return state.isResting || !isRunning || left <= .zero ? .rest : .wait(.after(left))
            }
            if isRunning { return .serve(state.waiting.removeFirst()) }
            switch state.restarts.admission(at: now) {
            case .now: return .start
            case .later(let time): return .wait(.after(now.duration(to: time)))
            case .off:
                defer { state.waiting = [] }
                return .fail(state.waiting, .unreachable("it has ended too often"))
            }
        }
    }

    /// Whether the thread has nothing more to do.
    private func finishThread() -> Bool {
        let (isDone, ended) = state.withLock { state in
            state.waiting.removeAll(where: \.isFinished)
            guard state.waiting.isEmpty else { return (false, [CheckedContinuation<Void, Never>]()) }
            state.hasThread = false
            state.isResting = false
            defer { state.ended = [] }
            return (true, state.ended)
        }
        for continuation in ended { continuation.resume() }
        return isDone
    }

    /// Nil if they cannot be started or do not work.
    private func start() -> ChildPipeline? {
        do throws(ProviderFailure) {
            let pipeline = try ChildPipeline(
                program.commands, environment: program.environment, maxAddressSpace: limits.addressSpace)
            state.withLock { state in
                state.status.starts += 1
                state.status.isRunning = true
            }
            let test = PendingResponse(program.test())
            return serve(test, pipeline, within: limits.start) ? pipeline : nil
        } catch {
            let waiting = state.withLock { state in
                state.restarts.recordEnd(at: .now)
                defer { state.waiting = [] }
                return state.waiting
            }
            for pending in waiting { pending.finish(.failure(error)) }
            return nil
        }
    }

    /// Whether they go on.
    private func serve(_ pending: PendingResponse, _ pipeline: ChildPipeline, within limit: Duration? = nil) -> Bool {
        var exchange = PipelineExchange(
            pipeline, request: pending.request.bytes,
            framing: .init(
                delimiter: program.delimiter, count: program.delimiterCount, maxSize: limits.maxResponseSize))
        let outcome = exchange.run(until: .now + (limit ?? limits.request))
        if case .response(let response) = outcome, pending.request.accepts(response) {
            pending.finish(.success(response))
            return true
        }
        let ending = kill(pipeline, keys: pending.request.keys, areEnding: outcome == .ended)
        let failure: ProviderFailure =
            switch outcome {
            case .timedOut: .timedOut
            case .tooLarge: .responseTooLarge(limit: limits.maxResponseSize)
            case .ended: .programFailed(ending ?? .exit(0), errorOutput: exchange.errorOutput)
            case .response, .unexpected: .unreachable("its response was to another request")
            }
        pending.finish(.failure(failure))
        return false
    }

    private func kill(_ pipeline: ChildPipeline, keys: [Int], areEnding: Bool = false) -> ProgramEnding? {
        let ending = pipeline.kill(areEnding: areEnding)
        state.withLock { state in
            for key in keys { state.fatal.record(key) }
            state.restarts.recordEnd(at: .now)
            state.status.ends += 1
            state.status.isRunning = false
        }
        return ending
    }

    /// They end by themselves when their input closes, and are killed in any case.
    private func end(_ pipeline: ChildPipeline) {
        pipeline.closeInput()
        var waits = [pollfd(fd: pipeline.output, events: Int16(POLLIN), revents: 0)]
        _ = poll(&waits, 1, 1_000)
        _ = pipeline.kill()
        state.withLock { $0.status.isRunning = false }
    }
}

extension DispatchTime {
    /// Not before it, but up to a millisecond later.
    fileprivate static func after(_ time: Duration) -> DispatchTime {
        .now() + .milliseconds(Int(clamping: Int64(time / .milliseconds(1)) + 1))
    }
}
