/// A remote whose answers arrive on a thread that can run the tasks which wait for them.
package protocol AnsweringRemote: SyncRemote {
    /// Runs tasks on that thread; nil when there is none. What waits there, or takes long, holds up every exchange of whoever
    /// shares it, so that nothing of an app and no store may run there.
    var answerExecutor: (any TaskExecutor)? { get }
}
