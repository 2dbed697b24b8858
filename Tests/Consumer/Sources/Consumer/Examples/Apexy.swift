import RelayFoundation
import RelayKit

// The examples of Apexy's guide, as this library has them: the article "Examples counted" shows each.

struct APIError: Decodable, Error {
    let code: String
    let title: String
}

enum ShopFailure: FailureInitializable {
    case api(APIError)
    case http(Status)
    case content
    case network(FailureKind)

    init(_ failure: Failure) {
        if let error = failure.underlying as? APIError {
            self = .api(error)
        } else if failure.kind == .decoding {
            self = .content
        } else {
            self = failure.status.map { .http($0) } ?? .network(failure.kind)
        }
    }
}

extension Request {
    func recognisingErrors() -> Request {
        var request = self
        request.errorDocument = ErrorDocument(APIError.self, at: "/error")
        return request
    }
}

struct BookEndpoint {
    let id: Int

    var request: Request<Book, ShopFailure> {
        Request(.get, "books/\(id)", container: "/data").recognisingErrors()
    }
}

struct LogOut: AttemptObserver {
    let logOut: @Sendable () -> Void

    func finished(_ job: FinishedJob) {
        if (job.failure?.underlying as? APIError)?.code == "token_invalid" { logOut() }
    }
}

func watched(_ service: RelayService, _ show: (Book?) -> Bool) async {
    let loader = Loader(BookEndpoint(id: 7).request, from: service)
    loader.startLoading()
    for await state in loader.states() where show(state.value) {
        return
    }
}
