import BasicContainers
package import Wire

/// The flows that an engine knows. For tests and fuzzing: none may outlive its allocation.
package struct FlowAudit {
    /// Flows whose datagrams arrive here, with the worker that owns their allocation; those of allocations here, with
    /// the worker at which their datagrams arrive.
    package let forwardedFlows: [Flow: UInt8]
    package let ingresses: [Flow: UInt8]
    package let flows: Set<Flow>
    package let inconsistencies: [String]
}

extension TURNEngine {
    package var audit: FlowAudit {
        var inconsistencies: [String] = []
        for (flow, slot) in flows {
            let slot = Int(slot)
            guard slot < allocations.count,
                allocations[slot].flow == flow || allocations[slot].mobility?.pending == flow
            else {
                inconsistencies.append("\(flow) maps to an allocation that does not have it")
                continue
            }
            if case .free = allocations[slot].stage { inconsistencies.append("\(flow) maps to a free slot") }
            if forwardedFlows[flow] != nil { inconsistencies.append("\(flow) belongs to this worker and to another") }
        }
        for slot in 0..<allocations.count {
            guard case .open = allocations[slot].stage else { continue }
            for flow in [allocations[slot].flow, allocations[slot].mobility?.pending] {
                if let flow, flow != .none, flows[flow] != UInt32(truncatingIfNeeded: slot) {
                    inconsistencies.append("\(flow) does not map to its allocation")
                }
            }
            if allocations[slot].isMoving != (allocations[slot].mobility?.pending != nil) {
                inconsistencies.append("isMoving and the pending flow of an allocation disagree")
            }
        }
        for flow in ingresses.keys where flows[flow] == nil {
            inconsistencies.append("\(flow) has an ingress and no allocation")
        }
        return FlowAudit(
            forwardedFlows: forwardedFlows.mapValues { $0.owner }, ingresses: ingresses.mapValues { $0.host },
            flows: Set(flows.keys), inconsistencies: inconsistencies)
    }
}
