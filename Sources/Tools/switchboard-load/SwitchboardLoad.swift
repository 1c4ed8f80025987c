import ArgumentParser

@main
struct SwitchboardLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "switchboard-load",
        abstract: "Generates load on a Switchboard server and measures its performance.",
        subcommands: [CallsCommand.self, ChatCommand.self, EchoCommand.self, MediaCommand.self, RelayCommand.self])
}
