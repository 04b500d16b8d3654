extension ClientTransport where Self == DefaultTransport {
    /// The transport of all in this process who name none of their own, with the default options.
    ///
    /// So several remotes share connections: of one user, of several, to one service or to several. Requests of different
    /// users may go over one connection, one after the other; who asks is part of each request. It lasts as long as the
    /// process. Do not close it.
    public static var shared: DefaultTransport { SharedTransport.transport }
}

private enum SharedTransport {
    static let transport = DefaultTransport()
}
