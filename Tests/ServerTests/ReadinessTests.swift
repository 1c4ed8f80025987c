import TestSupport
import Testing

@testable import Server

@Suite struct ReadinessTests {
    private struct Switches {
        var isDraining = false
        var isStorageFull = false
    }

    @Test func readyComesAfterTheLastPortAndOnce() {
        let announced = Shared<[String?]>([])
        let readiness = Readiness(
            listeners: [.control, .admin, .api], isDraining: { false }, isStorageFull: { false },
            announce: { address in announced.update { $0.append(address) } })
        #expect(readiness.obstacle == .starting)
        readiness.bound(.api, address: "http://127.0.0.1:8080/")
        readiness.bound(.control)
        #expect(readiness.obstacle == .starting && announced.value.isEmpty)
        readiness.bound(.admin)
        #expect(readiness.obstacle == nil && announced.value == ["http://127.0.0.1:8080/"])
        readiness.bound(.admin)
        #expect(announced.value.count == 1)
    }

    @Test func theReasonIsNamed() {
        let switches = Shared(Switches())
        let readiness = Readiness(
            listeners: [.admin], isDraining: { switches.value.isDraining },
            isStorageFull: { switches.value.isStorageFull }, announce: { _ in })
        switches.update { $0.isStorageFull = true }
        #expect(readiness.obstacle == .starting)
        readiness.bound(.admin)
        #expect(readiness.obstacle?.rawValue == "storage_full")
        switches.update { $0 = Switches(isDraining: true, isStorageFull: true) }
        #expect(readiness.obstacle == .storageFull)
        switches.update { $0.isStorageFull = false }
        #expect(readiness.obstacle?.rawValue == "draining")
        switches.update { $0.isDraining = false }
        #expect(readiness.obstacle == nil)
    }
}
