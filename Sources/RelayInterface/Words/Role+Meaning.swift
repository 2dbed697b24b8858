package import RelayRoute

extension Role {
    /// The rights of the callers of a listener with the role, and what to do about it.
    package var meaning: String {
        switch self {
        case .metrics:
            """
            Callers may read the metrics, and nothing else.
            Do: Give it to a listener that only Prometheus uses.
            """
        case .submit:
            """
            Callers may send requests, and see and cancel the jobs of their own user.
            Do: The usual jobs.sock has this role; use the control socket to do more.
            """
        case .read:
            """
            Callers may send requests and see everything: all jobs, routes and metrics.
            Do: To change the role of a listener, set its key role.
            """
        case .operate:
            """
            Callers may do all that read allows, act on jobs and routes, and tell that the network is constrained.
            Do: To change the role of a listener, set its key role.
            """
        case .admin:
            """
            Callers may do all that operate allows, and reload the configuration.
            Do: The usual control.sock has this role, and belongs to root.
            """
        }
    }
}
