extension Section {
    /// So many of something in so much time; what absence of `burst` means is for each rate to say.
    init(
        rate name: String,
        _ doc: String,
        prototype: Target,
        of counted: String,
        _ maxRequests: WritableKeyPath<Target, Int>,
        _ per: WritableKeyPath<Target, Duration>,
        burst: Field<Target>
    ) {
        self.init(
            name,
            doc,
            prototype: prototype,
            fields: [
                Field(
                    "max_requests",
                    .integer(1...1_000_000),
                    maxRequests,
                    isRequired: true,
                    "\(counted) in each \"per\"."
                ),
                Field(
                    "per",
                    .duration(.milliseconds(1) ... .seconds(86_400)),
                    per,
                    "What they are counted in."
                ),
                burst,
            ]
        )
    }
}
