/// The value of any setting, as it is read from a file, the environment or the command line.
enum SettingValue: Hashable, Sendable {
    case string(String)
    case integer(Int)
    case decimal(Double)
    case boolean(Bool)
    case strings([String])
    case integers([Int])
    case map([String: String])
    case records([[String: String]])
}
