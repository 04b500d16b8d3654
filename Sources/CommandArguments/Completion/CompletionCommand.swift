/// A subcommand that prints a script with which a shell completes the commands of a program.
package struct CompletionCommand<Program: ParsableCommand>: ParsableCommand {
    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "completion",
            abstract: "Print a script with which a shell completes commands.",
            discussion: """
                bash: put 'eval "$(\(name) completion bash)"' into ~/.bashrc. \
                zsh: put 'eval "$(\(name) completion zsh)"' into ~/.zshrc, behind compinit. \
                fish: run '\(name) completion fish > ~/.config/fish/completions/\(name).fish'.
                """
        )
    }

    @Argument(help: "The shell.")
    package var shell: CompletionShell

    package init() {}

    package func run() async throws { StandardStream.output.write(shell.script(for: Self.name)) }

    private static var name: String { Program.configuration.commandName }
}

/// A shell that can ask a program what may stand next.
package enum CompletionShell: String, CaseIterable, ExpressibleByArgument {
    case bash
    case zsh
    case fish

    /// A script that asks the program itself, and offers file names where it has no answer.
    func script(for name: String) -> String {
        let function = "_" + String(name.map { $0 == "-" ? "_" : $0 })
        let ask = "\(name) \(CompletionCandidate.request)"
        switch self {
        case .bash:
            return """
                \(function)() {
                    local IFS=$'\\n'
                    COMPREPLY=($(\(ask) "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null | cut -f 1))
                }
                complete -o default -F \(function) \(name)

                """
        case .zsh:
            return """
                #compdef \(name)
                \(function)() {
                    local -a found=("${(@f)$(\(ask) "${(@)words[2,CURRENT]}" 2> /dev/null)}")
                    found=("${found[@]//$'\\t'/:}")
                    [[ -n $found ]] && _describe command found || _files
                }
                compdef \(function) \(name)

                """
        case .fish:
            return """
                function \(function)
                    set -l words (commandline -opc) (commandline -ct)
                    set -l found (\(ask) $words[2..] 2> /dev/null)
                    and test -n "$found"
                    and printf '%s\\n' $found
                    or __fish_complete_path (commandline -ct)
                end
                complete -c \(name) -f -a '(\(function))'

                """
        }
    }
}
