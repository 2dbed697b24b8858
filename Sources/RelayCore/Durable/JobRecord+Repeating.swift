extension JobRecord {
    /// Whether sending such a job twice is acceptable: its method is idempotent, it carries a key by which the upstream
    /// recognises it, or a rule of the route repeats every request that was cut off.
    ///
    /// - Parameters:
    ///   - method: the job's method.
    ///   - fields: its own fields, as the caller sent them.
    ///   - route: where it goes; a key that the route adds counts as the job's.
    /// - Returns: what `mayRepeat` is at acceptance.
    package static func mayRepeat(_ method: Method, _ fields: HeaderFields, on route: Route) -> Bool {
        // Without content nothing in the preparation can fail, and only its fields are asked for here.
        let request = HTTPRequest(method: method, target: "", fields: fields)
        let prepared = try? Preparation(
            request,
            route: route,
            job: JobID(high: 0, low: 0),
            added: HeaderFields(),
            wallSeconds: 0
        )
        return route.mayRepeatAfterCrash(method, isKeyed: prepared?.isKeyed ?? false)
    }
}
