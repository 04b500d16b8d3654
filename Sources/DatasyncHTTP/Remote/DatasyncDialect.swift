/// A wire protocol that a server speaks. The raw value is the protocol's number.
public enum DatasyncDialect: Int, Sendable, Hashable, CaseIterable {
    /// Protocol 2: Azure Mobile Apps, as its Node server answers. Changes are sent as PATCH.
    case azureMobileApps = 2
    /// Protocol 3: Datasync. Changes replace the whole row by PUT.
    case datasync = 3

    func wireProtocol(maximumFilterNodes: Int = DatasyncOptions().maximumFilterNodes) -> any WireProtocol {
        switch self {
        // The Node server bounds no filter; that of .NET does, and says so.
        case .azureMobileApps: Protocol2()
        case .datasync: Protocol3(maximumFilterNodes: maximumFilterNodes)
        }
    }
}
