internal import Foundation
internal import RemoteContract

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The errors of an exchange that brought no complete answer, each with the server's name and what to check.
enum TransportFailure {
    static func timeout(_ server: String, _ timeout: Duration) -> RemoteError {
        RemoteError(
            .unreachable,
            "\(server) gave no complete answer within \(timeout); check the network, or allow more time"
        )
    }

    static func tooLarge(_ server: String, _ size: Int) -> RemoteError {
        RemoteError(
            .invalidResponse,
            "the answer of \(server) has more than \(size) bytes; fetch smaller pages, or allow larger answers"
        )
    }

    static func noAnswer(_ server: String) -> RemoteError {
        RemoteError(.unreachable, "\(server) closed the connection without an answer; try again")
    }

    static func error(for error: any Error, server: String) -> any Error {
        guard let error = error as? URLError else {
            return RemoteError(.unreachable, "the connection to \(server) failed")
        }
        if error.code == .cancelled { return CancellationError() }
        // Only the code goes along: the rest names the whole address, with ids and the values of filters.
        return RemoteError(.unreachable, explanation(of: error.code, server: server), cause: URLError(error.code))
    }

    private static func explanation(of code: URLError.Code, server: String) -> String {
        switch code {
        case .cannotConnectToHost:
            "nothing answers at \(server); check that the server runs there and that the port is right"
        case .cannotFindHost, .dnsLookupFailed:
            "the name of \(server) is not known; check its spelling and the network"
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff:
            "there is no network to reach \(server) by; try again when there is"
        case .timedOut: "\(server) did not answer in time; check the network, or allow more time"
        case .networkConnectionLost: "the connection to \(server) broke before the answer was complete; try again"
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot, .clientCertificateRejected,
            .clientCertificateRequired:
            "no secure connection to \(server) could be made; check its certificate and this device's clock"
        default: "the connection to \(server) failed; check the network and that the server runs there"
        }
    }
}
