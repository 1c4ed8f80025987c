import Notifications
import Providers

/// What a request to a push service came to.
enum ProviderResult {
    case response(ProviderClient.Response)
    /// There was none.
    case failed(PushOutcome)

    /// - Parameter problem: of a response; nil if the service has found nothing wrong but the device.
    func check(of kind: PushKind, problem: (ProviderClient.Response) -> String?) -> PushServiceCheck {
        switch self {
        case .response(let response): PushServiceCheck(kind: kind, problem: problem(response))
        case .failed(.retry(_, let reason)), .failed(.unreachable(let reason)), .failed(.rejected(let reason)),
            .failed(.gone(let reason)):
            PushServiceCheck(kind: kind, problem: reason)
        case .failed(.cancelled), .failed(.delivered):
            PushServiceCheck(kind: kind, problem: "The request was cancelled.")
        }
    }
}
