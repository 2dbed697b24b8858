import Glibc
import RelayBase
import RelayConfig
import RelayJSON
import RelayPosix
import RelayRoute
import RelaySystemd

/// `--what-if`: what the machine that would serve does with a series of failures, asked by `waystation what-if` and by
/// `waystation check`; nothing is sent, opened or kept.
enum WhatIfCommand {
    /// An order that cannot be carried out, in words for who typed it.
    private struct Fault: Error {
        let message: String
    }

    /// How long the worst cases of all routes may take.
    private static let timeLimit: Duration = .seconds(3)
    /// Bytes of all trials at once.
    private static let trialLimit = 64 * 1_048_576

    /// - Returns: the exit status; standard output then has an object with the fault as `error`.
    static func run(_ arguments: Arguments) -> Int32 {
        do throws(Fault) {
            let configuration = try configuration(arguments.file ?? ConfigurationLoader.defaultFile())
            guard let order = try? JSONValue(parsing: Array(arguments.order.utf8)) else {
                throw Fault(message: "the order is no JSON")
            }
            if let path = text(order["trials"]) {
                try rehearse(path, configuration)
                return 0
            }
            let document = try document(order, configuration)
            Output.bytes(document + [UInt8(ascii: "\n")])
            return 0
        } catch {
            var json = JSONObjectWriter()
            json.member("error", error.message)
            Output.bytes(json.bytes + [UInt8(ascii: "\n")])
            return 1
        }
    }

    /// Takes the lines of a file, and prints a line for each that is a trial.
    private static func rehearse(_ path: String, _ configuration: Configuration) throws(Fault) {
        let bytes: [UInt8]
        do throws(FileContents.ReadError) { bytes = try FileContents(path, limit: trialLimit).bytes } catch {
            throw Fault(message: "cannot read the trials: \(error.reason)")
        }
        var rehearsal = Rehearsal(configuration)
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let answer = rehearsal.take(Array(line)) else {
                throw Fault(message: "line \(index + 1) of the trials says nothing")
            }
            Output.bytes(answer)
        }
    }

    private static func document(
        _ order: JSONValue,
        _ configuration: Configuration
    ) throws(Fault) -> [UInt8] {
        let wall = integer(order["at"]) ?? SystemClock.wall() / 1_000_000
        guard let name = text(order["route"]) else {
            return worstCases(configuration, wall)
        }
        guard let route = configuration.routes.first(where: { $0.name == name }) else {
            let near = nearestWord(to: name, among: configuration.routes.map(\.name))
            let hint = near.map { "; did you mean \($0)?" } ?? ""
            throw Fault(message: "the configuration has no route \"\(name)\"\(hint)")
        }
        var words: [String] = []
        if case .array(let elements)? = order["series"] { words = elements.compactMap(text) }
        var plan: ForecastPlan
        do throws(ImaginedSeries.Fault) {
            let series = try ImaginedSeries(words) { (path) throws(ImaginedSeries.Fault) in try content(path)
            }
            plan = ForecastPlan(route, series, of: configuration, wall: wall, keepsWindows: true)
            try checkWords(of: series, for: plan)
        } catch { throw Fault(message: error.message) }
        if case .bool(true)? = order["durable"] {
            (plan.isKept, plan.method) = (true, .post)
        }
        if let body = text(order["body"]) {
            let bytes = Array(body.utf8)
            do throws(ImaginedSeries.Fault) {
                plan.body = bytes.looksLikeJSON ? bytes : try content(body)
            } catch {
                throw Fault(message: error.message)
            }
            plan.method = .post
        }
        if let method = text(order["method"]) {
            guard !method.isEmpty, method.utf8.allSatisfy(isTokenByte) else {
                throw Fault(message: "\"\(method)\" is no method")
            }
            plan.method = Method(rawValue: method)
        }
        if case .bool(true)? = order["key"] { plan.isKeyed = true }
        guard let forecast = Forecast(plan) else {
            throw Fault(message: "the route waits for what no series can give it")
        }
        if let word = forecast.misplaced { throw Fault(message: misplaced(word)) }
        return forecast.document
    }

    /// Refuses words of an upstream that the route never asks for.
    private static func checkWords(
        of series: ImaginedSeries,
        for plan: ForecastPlan
    ) throws(ImaginedSeries.Fault) {
        for imagined in series.attempts {
            guard case .word(let word) = imagined.end, plan.answer(word) == nil else { continue }
            let key = LookUp.ofRequests.contains(word) ? "verify" : "follow"
            throw ImaginedSeries.Fault(
                message:
                    "word \(imagined.position), \"\(imagined.word)\": it answers what a route with \(key) asks, and"
                    + " \(plan.route.name) has no \(key)"
            )
        }
    }

    /// The place of a word that met what did not ask for it, and what does.
    private static func misplaced(_ imagined: Imagined) -> String {
        let place = "word \(imagined.position), \"\(imagined.word)\""
        guard case .word(let word) = imagined.end, LookUp.ofRequests.contains(word) else {
            return
                "\(place): it answers a look at an operation (follow), which a 202 begins, and meets no look here"
        }
        return
            "\(place): it answers a question (verify), which an attempt brings about that may have been carried"
            + " out, and meets no question here"
    }

    /// Of the routes in their order, as many as there is time for.
    private static func worstCases(_ configuration: Configuration, _ wall: Int64) -> [UInt8] {
        let clock = SystemClock.monotonic()
        var (json, left) = (JSONObjectWriter(), 0)
        json.array("routes") { list in
            for route in configuration.routes {
                let spent = SystemClock.monotonic() - clock
                guard spent < timeLimit.saturatedNanoseconds else {
                    left += 1
                    continue
                }
                let plan = ForecastPlan(route, ImaginedSeries([.good]), of: configuration, wall: wall)
                list.object { WorstCase(plan, route.policy.closed).write(into: &$0) }
            }
        }
        json.member("left", left)
        return json.bytes
    }

    private static func text(_ value: JSONValue?) -> String? {
        if case .string(let text)? = value { text } else { nil }
    }

    private static func integer(_ value: JSONValue?) -> Int64? {
        if case .number(let number)? = value { number.int64 } else { nil }
    }

    private static func content(_ path: String) throws(ImaginedSeries.Fault) -> [UInt8] {
        do throws(FileContents.ReadError) {
            return try FileContents(path, limit: ConfigurationLoader.limit).bytes
        } catch {
            throw ImaginedSeries.Fault(message: "cannot read \(path): \(error.reason)")
        }
    }

    private static func configuration(_ file: String) throws(Fault) -> Configuration {
        let bytes: [UInt8]
        do throws(ImaginedSeries.Fault) { bytes = try content(file) } catch {
            throw Fault(message: error.message)
        }
        let result = ConfigurationReader.read(
            bytes,
            file: file,
            accounts: AccountResolver(user: Accounts.user, group: Accounts.group, zoneFile: ZoneFiles.read),
            wallSeconds: SystemClock.wallSeconds()
        )
        let isRefused = result.diagnostics.contains { $0.severity == .error }
        guard let configuration = result.configuration, !isRefused else {
            throw Fault(message: "the configuration is not valid: waystation check \(file)")
        }
        return configuration
    }
}
