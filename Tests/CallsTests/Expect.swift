import Calls
import Model
import Testing

/// The kind of problem that `body` is refused with, and the field it names.
func problem(_ body: () throws -> some Any) -> Problem.Kind? { refusal(body)?.kind }

func refusal(_ body: () throws -> some Any) -> Problem? {
    do {
        _ = try body()
        return nil
    } catch let problem as Problem {
        return problem
    } catch {
        Issue.record("Not a problem: \(error)")
        return nil
    }
}
