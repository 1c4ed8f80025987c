// Marks and notes of the conversations that the app reads.
extension RealtimeEndpoint {
    /// Listens to the marks of a conversation once its own stream is open.
    func listenToMarks(of conversation: OpenConversation) {
        if let epoch = conversation.state.position?.epoch { conversation.marks.begin(in: epoch) }
        let (stream, position) = (StreamName.marks(conversation.state.id), conversation.marks.position)
        act { machine, actions in
            machine.listen(stream, holding: position, into: &actions)
        }
    }

    func deliverMarks(_ delivery: EndpointMachine.Delivery, of conversation: OpenConversation, stream: String) {
        switch delivery {
        case .snapshot(.marks(let snapshot), let position): conversation.marks.apply(snapshot, at: position)
        case .rows(.marks(let frame)): conversation.marks.apply(frame)
        // Of those that are refused there is nothing to wait for.
        case .listening, .closed(.refused): conversation.areMarksKnown = true
        default: return
        }
        machine.hold(conversation.marks.position, of: stream)
        dropHidden(conversation)
        changed(conversation)
    }

    /// Takes what the user has noted on messages that were read.
    func keep(_ own: [OwnMessage]?, of conversation: OpenConversation) {
        guard let own, !own.isEmpty else { return }
        for one in own { conversation.marks.keep(one) }
        dropHidden(conversation)
    }

    func keep(_ messages: [Message], in id: ConversationID) {
        guard let conversation = messaging.open[resolve(id)] else { return }
        for message in messages { conversation.state.keep(message) }
        changed(conversation)
    }

    private func dropHidden(_ conversation: OpenConversation) {
        conversation.state.hide(conversation.marks.marks.own.values.filter { $0.hidden == true }.map(\.number))
    }
}
