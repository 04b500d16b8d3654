/// What a server puts up with.
package struct ServerSettings: Sendable {
    /// How many connections there may be; one more is closed without an answer as soon as it was accepted. Every
    /// connection has a thread.
    package var maximumConnections = 256
    /// How long a connection may be open without a byte of a request.
    package var idleLimit = Duration.seconds(130)
    /// How long the head of a request may take from its first byte to its last, and the agreement on TLS.
    package var headLimit = Duration.seconds(30)
    /// How long the body may take from the end of the head to its last byte.
    package var bodyLimit = Duration.seconds(120)
    /// How long a client may take no byte of an answer.
    package var sendLimit = Duration.seconds(30)
    /// How long what a client goes on sending is read over after the last answer on its connection, so that the answer
    /// is not lost in a reset.
    package var lingerLimit = Duration.seconds(2)
    /// How long answers in progress may take when the server stops. What handles them is cancelled first.
    package var stopGrace = Duration.seconds(1)

    /// Makes the settings that servers usually have.
    package init() {}
}
