/// The slots that take what comes now; statements name their tables.
struct FleetHeads: Hashable, Sendable {
    var job: Int16 = 0
    var ready: Int16 = 0
    var tally: Int16 = 0
}
