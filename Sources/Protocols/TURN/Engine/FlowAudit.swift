import BasicContainers
package import Wire

/// What an engine remembers of flows. For tests and fuzzing: nothing of it may outlive its allocation.
package struct FlowAudit {
    /// Flows whose datagrams arrive here, with the worker that owns their allocation; those of allocations here, with the
    /// worker to which their datagrams come.
    package let strangers: [Flow: UInt8]
    package let guests: [Flow: UInt8]
    package let flows: Set<Flow>
    /// What does not fit together, in words.
    package let contradictions: [String]
}

extension TURNEngine {
    package var audit: FlowAudit {
        var contradictions: [String] = []
        for (flow, slot) in flows {
            let slot = Int(slot)
            guard slot < allocations.count,
                allocations[slot].flow == flow || allocations[slot].mobility?.pending == flow
            else {
                contradictions.append("\(flow) leads to an allocation that does not have it")
                continue
            }
            if case .free = allocations[slot].stage { contradictions.append("\(flow) leads to a free slot") }
            if strangers[flow] != nil { contradictions.append("\(flow) is this worker's and another's") }
        }
        for slot in 0..<allocations.count {
            guard case .open = allocations[slot].stage else { continue }
            for flow in [allocations[slot].flow, allocations[slot].mobility?.pending] {
                if let flow, flow != .none, flows[flow] != UInt32(truncatingIfNeeded: slot) {
                    contradictions.append("\(flow) is lost to its allocation")
                }
            }
            if allocations[slot].isMoving != (allocations[slot].mobility?.pending != nil) {
                contradictions.append("an allocation moves to nowhere")
            }
        }
        for flow in guests.keys where flows[flow] == nil { contradictions.append("\(flow) is a guest of nobody") }
        return FlowAudit(
            strangers: strangers.mapValues { $0.owner }, guests: guests.mapValues { $0.host }, flows: Set(flows.keys),
            contradictions: contradictions)
    }
}
