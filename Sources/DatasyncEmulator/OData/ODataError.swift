/// Why a query option cannot be used.
struct ODataError: Error, Equatable {
    enum Reason: Equatable {
        case syntax
        case unknownProperty
        /// The option is fine, but no store could carry it out.
        case untranslatable
        /// The genuine server fails.
        case serverFailure
    }

    let reason: Reason
    let message: String
    /// Where in the option, in bytes.
    let position: Int

    static func syntax(_ message: String, at position: Int) -> ODataError {
        ODataError(reason: .syntax, message: message, position: position)
    }

    static func unknownProperty(_ name: String, at position: Int) -> ODataError {
        let message = "Could not find a property named '\(name)'"
        return ODataError(reason: .unknownProperty, message: message, position: position)
    }
}
