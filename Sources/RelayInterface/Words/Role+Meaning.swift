package import RelayRoute

extension Role {
    /// How far the callers of a listener with the role may go.
    package var meaning: String {
        switch self {
        case .metrics:
            """
            Its callers read the metrics, and nothing else.
            Do: For a Prometheus that scrapes a port of the loopback.
            """
        case .submit:
            """
            Its callers use routes, and see and cancel their own user's jobs.
            Do: The usual jobs.sock has it; for more use the control socket.
            """
        case .read:
            """
            Its callers see everything, the metrics too.
            Do: The role of a listener stands in the configuration.
            """
        case .operate:
            """
            Its callers act on jobs, routes and the network's condition, too.
            Do: The role of a listener stands in the configuration.
            """
        case .admin:
            """
            Its callers reload the configuration, too.
            Do: The usual control.sock has it, which is root's.
            """
        }
    }
}
