extension EncodingError {
    /// The same without the value, which belongs to a row: a log that takes errors in must not get it.
    package var withoutValue: EncodingError {
        guard case .invalidValue(let value, let context) = self else { return self }
        return .invalidValue(type(of: value), context)
    }
}
