#if canImport(SwiftUI)
    import SwiftUI
    import SwitchboardClient

    struct ChatView: View {
        @State var chat: Chat

        var body: some View {
            VStack {
                if let state = chat.state {
                    if !state.isCurrent { Text("Not connected. What you write is sent later.") }
                    List(state.messages.map { Bubble($0, in: state) }) { bubble in
                        VStack(alignment: .leading) {
                            Text(bubble.author).font(.caption)
                            Text(bubble.text)
                            Text(bubble.status).font(.caption2)
                            if bubble.hasFailed {
                                Button("Try again") { Task { try? await chat.retry(bubble.message) } }
                                Button("Discard") { Task { try? await chat.discard(bubble.message) } }
                            }
                        }
                    }
                }
                TextField("Message", text: $chat.text)
                    .onSubmit { Task { try? await chat.send() } }
            }
            .task { await chat.follow() }
            .onDisappear { Task { try? await chat.leave() } }
        }
    }
#endif
