/// A question before something that cannot be undone.
enum Confirmation {
    /// Asks on the terminal.
    ///
    /// - Throws: ``ToolError`` with code `notConfirmed` when the answer is another word, or there is no terminal.
    static func ask(_ warning: String, word: String) throws {
        guard Terminal.isStandardInputTerminal else {
            throw ToolError("notConfirmed", "there is no terminal to ask on; give --yes to do it without a question")
        }
        Console.writeError(sentence: "\(warning) Type \(word) to go on:")
        guard readLine() == word else { throw ToolError("notConfirmed", "nothing was changed") }
    }
}
