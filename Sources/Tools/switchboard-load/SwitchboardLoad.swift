import ArgumentParser

@main
struct SwitchboardLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "switchboard-load",
        abstract: "Puts load on a Switchboard server and measures what it does.",
        subcommands: [CallsCommand.self, MediaCommand.self, RelayCommand.self])
}
