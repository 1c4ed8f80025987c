// Translations and hints of the conversations that the app reads.
extension RealtimeEndpoint {
    /// Listens to the translations of a conversation once its own stream is open. If the user's mode is automatic,
    /// listening demands those of the newest messages.
    func listenToTranslations(of conversation: OpenConversation) {
        let (stream, position) = (
            StreamName.translations(conversation.state.id), conversation.translations.position
        )
        act { machine, actions in
            machine.listen(stream, holding: position, into: &actions)
        }
    }

    func deliverTranslations(
        _ delivery: EndpointMachine.Delivery, of conversation: OpenConversation, stream: String
    ) {
        switch delivery {
        case .snapshot(.translations(let snapshot), let position):
            conversation.translations.apply(snapshot, at: position, beside: conversation.state)
        case .rows(.translations(let frame)): conversation.translations.apply(frame, beside: conversation.state)
        default: return
        }
        machine.hold(conversation.translations.position, of: stream)
        changed(conversation)
    }

    /// Takes rows of the response to a request.
    func keep(_ rows: [TranslationsRow], in id: ConversationID) {
        guard let conversation = messaging.open[resolve(id)] else {
            return cache { try $0.keep(rows, of: resolve(id)) }
        }
        for row in rows { conversation.translations.keep(row, beside: conversation.state) }
        changed(conversation)
    }
}
