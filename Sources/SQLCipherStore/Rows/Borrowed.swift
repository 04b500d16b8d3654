/// A value as it lies in an array.
///
/// Not copyable, so that what reads it counts no references. Counting writes to memory that the thread which made the row
/// still has in its cache, and was a fifth of the time that writing the row took.
struct Borrowed<Value>: ~Copyable {
    let value: Value

    /// Lends the elements of an array, one after the other.
    static func forEach<Failure: Error>(
        _ array: [Value],
        _ body: (borrowing Borrowed) throws(Failure) -> Void
    ) throws(Failure) {
        assert(MemoryLayout<Borrowed>.stride == MemoryLayout<Value>.stride, "a struct lies as its only property")
        try unsafe array.withUnsafeBufferPointer { elements throws(Failure) in
            // A struct lies in memory as its only property does.
            try unsafe elements.withMemoryRebound(to: Borrowed.self) { elements throws(Failure) in
                guard var element = unsafe UnsafeRawPointer(elements.baseAddress) else { return }
                // Asked for once: outside the module's own types it is looked up at run time.
                let stride = MemoryLayout<Value>.stride
                for _ in elements.indices {
                    try unsafe body(element.assumingMemoryBound(to: Borrowed.self).pointee)
                    unsafe element += stride
                }
            }
        }
    }
}
