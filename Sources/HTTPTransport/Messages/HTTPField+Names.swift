extension HTTPField.Name {
    /// `Accept`
    public static let accept = Self(checked: "Accept")
    /// `Accept-Encoding`
    public static let acceptEncoding = Self(checked: "Accept-Encoding")
    /// `Authorization`
    public static let authorization = Self(checked: "Authorization")
    /// `Connection`
    public static let connection = Self(checked: "Connection")
    /// `Content-Encoding`
    public static let contentEncoding = Self(checked: "Content-Encoding")
    /// `Content-Length`
    public static let contentLength = Self(checked: "Content-Length")
    /// `Content-Type`
    public static let contentType = Self(checked: "Content-Type")
    /// `Date`
    public static let date = Self(checked: "Date")
    /// `ETag`
    public static let eTag = Self(checked: "ETag")
    /// `Expect`
    public static let expect = Self(checked: "Expect")
    /// `Host`
    public static let host = Self(checked: "Host")
    /// `If-Match`
    public static let ifMatch = Self(checked: "If-Match")
    /// `If-Modified-Since`
    public static let ifModifiedSince = Self(checked: "If-Modified-Since")
    /// `If-None-Match`
    public static let ifNoneMatch = Self(checked: "If-None-Match")
    /// `If-Unmodified-Since`
    public static let ifUnmodifiedSince = Self(checked: "If-Unmodified-Since")
    /// `Last-Modified`
    public static let lastModified = Self(checked: "Last-Modified")
    /// `Location`
    public static let location = Self(checked: "Location")
    /// `Retry-After`
    public static let retryAfter = Self(checked: "Retry-After")
    /// `Transfer-Encoding`
    public static let transferEncoding = Self(checked: "Transfer-Encoding")
    /// `User-Agent`
    public static let userAgent = Self(checked: "User-Agent")
    /// `WWW-Authenticate`
    public static let wwwAuthenticate = Self(checked: "WWW-Authenticate")
}
