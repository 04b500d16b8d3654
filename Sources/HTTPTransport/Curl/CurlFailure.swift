#if !canImport(Darwin)
internal import CCurl

/// What is known of a transfer that failed, and the error that it comes to.
struct CurlFailure {
    let code: CURLcode
    /// The library's words.
    let text: String
    /// What the check of the server's certificate came to, a number of OpenSSL's.
    let verification: Int
    /// How often the request was, or was about to be, written.
    let attempts: Int
    let hasHead: Bool
    let order: TransferRequest
    let options: TransportOptions

    private var server: String { order.address.server }

    private var fate: TransportError.Fate { attempts == 0 ? .notSent : .mayHaveBeenProcessed }

    private var cause: LibraryFailure { LibraryFailure(code: Int(code.rawValue), text: text) }

    var error: TransportError {
        switch code {
        case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT:
            error(.invalidRequest, "The address of \(server) is none; check its host and port.")
        case CURLE_COULDNT_RESOLVE_PROXY:
            error(
                .unknownHost,
                "The name of the proxy on the way to \(server) is not known; check http_proxy and https_proxy."
            )
        case _ where text.contains("CONNECT tunnel failed"):
            error(
                .cannotConnect,
                "The proxy of the environment refuses the way to \(server); ask whoever runs it, or use none."
            )
        case CURLE_COULDNT_RESOLVE_HOST:
            error(.unknownHost, "The name of \(server) is not known; check its spelling and the network.")
        case CURLE_COULDNT_CONNECT:
            error(
                .cannotConnect,
                "Nothing answers at \(server); check that the server runs there and that the port is right."
            )
        case CURLE_OPERATION_TIMEDOUT: timeout
        case CURLE_PEER_FAILED_VERIFICATION: certificate
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE:
            error(
                .unreadableCertificates,
                "The trusted certificates cannot be read; install the system's (ca-certificates), and check the"
                    + " additional file if there is one."
            )
        case CURLE_SSL_CONNECT_ERROR: handshake
        case CURLE_UNSUPPORTED_PROTOCOL:
            .invalidResponse(server, "it does not begin as one" + otherSchemeHint, cause: cause)
        case CURLE_WEIRD_SERVER_REPLY: .invalidResponse(server, "its head is none", cause: cause)
        // What is refused here ends with CURLE_WRITE_ERROR as well, but never comes so far.
        case CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR:
            .invalidResponse(server, "its compression is broken, or not known", cause: cause)
        case CURLE_RECV_ERROR where text.contains("chunked-encoding"):
            .invalidResponse(server, "a chunk of it is none", cause: cause)
        case CURLE_PARTIAL_FILE: .cut(server, in: "body", fate: fate, cause: cause)
        // A line above libcurl's own limit of 100 KB; from 8.6 on that has a number of its own.
        case _ where (code == CURLE_OUT_OF_MEMORY || code.rawValue == 100) && attempts > 0 && !hasHead:
            .tooLarge(server, head: options.maximumHeadSize)
        case CURLE_RECV_ERROR where text.contains("Too large response headers"):
            .tooLarge(server, head: options.maximumHeadSize)
        case CURLE_RECV_ERROR where text.contains("alert"): alert
        default: lost
        }
    }

    private func error(_ code: TransportError.Code, _ message: String) -> TransportError {
        TransportError(code, message, fate: fate, cause: cause)
    }

    // MARK: Time

    private var timeout: TransportError {
        if text.contains("SSL") {
            return error(
                .timedOut,
                "\(server) took the connection but began no secure one in time; check that its port speaks TLS (or use"
                    + " 'http'), and the network"
            )
        }
        if attempts == 0 {
            let limit = min(options.connectTimeout, order.timeout)
            return error(.timedOut, "\(server) could not be reached within \(limit); check the address and the network")
        }
        return .timedOut(server, after: order.timeout, fate: fate, cause: cause)
    }

    // MARK: TLS

    private var certificate: TransportError {
        switch verification {
        case 9, 10:
            error(
                .expiredCertificate,
                "The certificate of \(server) is \(verification == 10 ? "valid no more" : "not valid yet"); renew it on"
                    + " the server, and check this machine's clock."
            )
        case 18, 19, 20, 21:
            error(
                .untrustedCertificate,
                "The certificate of \(server) is signed by nobody who is trusted here; install its authority in the"
                    + " system, or name it as an additional certificate file."
            )
        case _ where text.contains("subject name") || text.contains("does not match"):
            error(
                .certificateForAnotherHost,
                "The certificate of \(server) is for another host; use the name that it was made for, or give the server"
                    + " one for this name."
            )
        default:
            error(.untrustedCertificate, "The certificate of \(server) is not acceptable; give the server another one.")
        }
    }

    private var handshake: TransportError {
        if text.contains("wrong version number") || text.contains("packet length too long")
            || text.contains("http request")
        {
            return error(.noTLS, "\(server) does not speak TLS on this port; use its TLS port, or 'http'")
        }
        if text.contains("protocol version") || text.contains("unsupported protocol") {
            return error(.oldTLSVersion, "\(server) offers no version of TLS from 1.2 on; update its settings")
        }
        if text.contains("eof") || text.contains("SSL_ERROR_SYSCALL") || text.contains("reset") { return lost }
        return error(
            .secureConnectionFailed,
            "No secure connection to \(server) could be made; check its TLS settings."
        )
    }

    /// The server ended the secure connection and said why.
    private var alert: TransportError {
        if text.contains("certificate") || text.contains("handshake failure") {
            return error(
                .clientCertificateRequired,
                "\(server) asks for a certificate of the client, which is not supported; let it ask for a token instead"
            )
        }
        return lost
    }

    // MARK: A broken connection

    private var lost: TransportError {
        if attempts == 0 {
            return error(
                .connectionLost,
                "The connection to \(server) broke before the request was sent; try again" + otherSchemeHint
            )
        }
        let part = hasHead ? "before its answer was complete" : "without an answer"
        return error(.connectionLost, "\(server) closed the connection \(part); try again" + otherSchemeHint)
    }

    /// The wrong scheme for a port ends in many ways, which all look like something else.
    private var otherSchemeHint: String {
        if order.address.isSecure {
            return code == CURLE_SSL_CONNECT_ERROR ? ", or use 'http' if its port does not speak TLS" : ""
        }
        return hasHead ? "" : ", or use 'https' if its port speaks TLS"
    }
}
#endif
