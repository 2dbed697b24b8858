// A policy, its rules and a failure are the core's types: who writes a request writes them too, with one import.
@_exported public import RelayBase
@_exported public import RelayCore
@_exported public import RelayJobs
@_exported public import RelayRoute
