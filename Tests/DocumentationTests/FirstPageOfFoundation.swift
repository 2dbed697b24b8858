import RelayFoundation
import RelayKit
import RelaySockets

/// The forecast of a city, by `JSONDecoder`.
struct Forecast: Decodable, Equatable {
    let summary: String
}

func forecast(of city: String) async throws -> Forecast {
    let weather = try RelayService(RoutePolicy(upstreams: [try Upstream("https://weather.example/v1/")]))
    return try await weather.execute(Request(.get, "forecasts/\(city)"))
}
