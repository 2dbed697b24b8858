extension WorkerThread<BodyFiles> {
    /// Removes the files of earlier runs that belong to no job.
    func removeOrphans(unknownTo reader: WorkerThread<StoreReader>) {
        start { files in
            let names = files.earlier()
            // One by one, so that nobody's read waits for all of them.
            for name in names {
                reader.start { reader in
                    guard let select = try? reader.database.statement("SELECT 1 FROM file WHERE name = ?")
                    else { return }
                    select.bind(1, name)
                    defer { select.reset() }
                    // Only a certain no removes anything.
                    if (try? select.step()) == false { files.remove([name]) }
                }
            }
        }
    }
}
