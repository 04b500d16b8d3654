internal import ConformanceRunner

extension ServerRules {
    /// A version that no row has.
    private static let noVersion = "\"dGVzdA==\""

    static let conditions: [Entry] = [
        rule(
            "conditional.update-current",
            .both,
            "An update with the current version in If-Match is carried out.",
            in: "datasync-protocol 1.6, 6.3 #17; node-server-protocol2, Update",
            "Updates a row with its version, twice."
        ) { server in
            var row = try await server.insert()
            for text in ["one", "two"] {
                let response = try await server.update(row, [.text: .string(text)], headers: ["If-Match": row.tag])
                try server.require(response, 200)
                row = try server.row(of: response)
                server.expectValues(row, [.text: .string(text)], response.request)
            }
        },
        rule(
            "conditional.update-stale",
            .both,
            "An update with another version in If-Match is a 412, and nothing is changed.",
            in: "datasync-protocol 1.6, 6.3 #17; node-server-protocol2, Update",
            "Updates a row with the version it had before, and with one it never had; in protocol 3 with its own in other letters"
                + " of case, too."
        ) { server in
            let old = try await server.insert()
            let row = try server.row(of: try await server.update(old))
            var tags = [old.tag, noVersion]
            // What stands for other bytes: the last letter may have bits that stand for nothing.
            if server.speaks == .datasync, let swapped = row.tag.withOtherCase { tags.append(swapped) }
            for tag in tags {
                let response = try await server.update(row, [.text: "wrong"], headers: ["If-Match": tag])
                server.expect(response, 412)
                try await server.expectUnchanged(row, after: response.request)
            }
        },
        rule(
            "conditional.update-stale-row",
            .both,
            "The body of the 412 is the server's current row, and the ETag its version.",
            in: "datasync-protocol 1.6, 1.7, 6.3 #17; node-server-protocol2, Update",
            "Updates a row with the version it had before, and holds the answer against the row."
        ) { server in
            let old = try await server.insert()
            let row = try server.row(of: try await server.update(old))
            let response = try await server.update(row, [.text: "wrong"], headers: ["If-Match": old.tag])
            try server.require(response, 412)
            server.expectRow(response, row)
        },
        rule(
            "conditional.update-weak",
            .both,
            "A weak version never matches: 412, and nothing is changed.",
            in: "datasync-protocol 1.6, 7.4; node-server-protocol2, Version and ETag",
            "Updates a row with its own version as a weak one."
        ) { server in
            let row = try await server.insert()
            let response = try await server.update(row, [.text: "wrong"], headers: ["If-Match": "W/\(row.tag)"])
            server.expect(response, 412)
            try await server.expectUnchanged(row, after: response.request)
        },
        rule(
            "conditional.versions-differ",
            .both,
            "A version changes on every write: none of a row comes back while the row is there, whatever it holds.",
            in: "datasync-protocol 1.3, 1.6, 6.3 #17; node-server-protocol2, Version and ETag",
            for: .column(.text),
            "Changes a row to one text and another, in turns, and updates it under each version that it had before."
        ) { server in
            var rows = [try await server.insert([.text: "one"])]
            for text in ["two", "one", "two"] {
                let response = try await server.update(rows[rows.count - 1], [.text: .string(text)])
                try server.require(response, 200)
                rows.append(try server.row(of: response))
            }
            let versions = rows.map(\.version)
            server.trial.expect(
                Set(versions).count,
                equals: rows.count,
                "the number of different versions in \(versions)"
            )
            for old in rows.dropLast() {
                let response = try await server.update(old, [.text: "wrong"], headers: ["If-Match": old.tag])
                server.expect(response, 412)
            }
            try await server.expectUnchanged(rows[rows.count - 1], after: "updates under its earlier versions")
        },
        rule(
            "conditional.update-empty",
            .protocol3,
            "An empty version matches no row: 412, and nothing is changed.",
            in: "datasync-protocol 1.6",
            "Updates a row with an empty text in quotes."
        ) { server in
            guard server.profile.server != .predecessor else { throw Unsupported("not known of this server") }
            let row = try await server.insert()
            let response = try await server.update(row, [.text: "wrong"], headers: ["If-Match": "\"\""])
            server.expect(response, 412)
            try await server.expectUnchanged(row, after: response.request)
        },
        rule(
            "conditional.update-any",
            .protocol3,
            "If-Match: * matches every row that is there.",
            in: "datasync-protocol 1.2, 1.6",
            "Updates a row with it, and an id that was never used."
        ) { server in
            let row = try await server.insert()
            server.expect(try await server.update(row, headers: ["If-Match": "*"]), 200)
            let id = server.newID()
            server.expect(try await server.send("PUT", id, headers: ["If-Match": "*"], server.item(id)), 404, 412)
        },
        rule(
            "conditional.update-quoted-star",
            .protocol3,
            "A star in quotes is a version, not the wildcard: 412.",
            in: "datasync-protocol 1.6",
            "Updates a row with it."
        ) { server in
            let row = try await server.insert()
            let response = try await server.update(row, [.text: "wrong"], headers: ["If-Match": "\"*\""])
            server.expect(response, 412)
            try await server.expectUnchanged(row, after: response.request)
        },
        rule(
            "conditional.update-without",
            .both,
            "Without If-Match an update is unconditional; no server asks for the header with 428.",
            in: "datasync-protocol 1.5, 1.7; node-server-protocol2, Update",
            "Updates a row twice without a version."
        ) { server in
            let row = try await server.insert()
            server.expect(try await server.update(row, [.text: "one"]), 200)
            server.expect(try await server.update(row, [.text: "two"]), 200)
            server.expectValues(try await server.read(row.id), [.text: "two"], "two updates; GET")
        },
        rule(
            "conditional.update-none-match",
            .protocol3,
            "If-None-Match with the current version or * is a 412 for an update; with another version it is carried out.",
            in: "datasync-protocol 1.6, 6.3 #17",
            "Updates a row with each."
        ) { server in
            let row = try await server.insert()
            for tag in [row.tag, "*"] {
                let response = try await server.update(row, [.text: "wrong"], headers: ["If-None-Match": tag])
                server.expect(response, 412)
                try await server.expectUnchanged(row, after: response.request)
            }
            server.expect(try await server.update(row, headers: ["If-None-Match": noVersion]), 200)
        },
        rule(
            "conditional.update-list",
            .both,
            "A list of versions matches when one of them does; genuine servers fail on it.",
            in: "datasync-protocol 1.6; node-server-protocol2, Version and ETag",
            for: .nobody,
            "Updates a row with a list that has its version."
        ) { server in
            let row = try await server.insert()
            server.expect(try await server.update(row, headers: ["If-Match": "\(noVersion), \(row.tag)"]), 200)
        },
        rule(
            "conditional.update-list-stale",
            .both,
            "A list of versions that the row does not have never lets an update through.",
            in: "datasync-protocol 1.6; node-server-protocol2, Version and ETag",
            "Updates a row with a list of two such versions."
        ) { server in
            let row = try await server.insert()
            let response = try await server.update(
                row,
                [.text: "wrong"],
                headers: ["If-Match": "\(noVersion), \"b3RoZXI=\""]
            )
            server.expect(response.isRefusal, response, "a refusal, such as 412")
            try await server.expectUnchanged(row, after: response.request)
        },
        rule(
            "conditional.update-unquoted",
            .both,
            "A stale version without quotes does not make the update unconditional.",
            in: "datasync-protocol 1.6, 7.4; node-server-protocol2, Version and ETag",
            for: .nobody,
            "Updates a row with a version that it never had, without quotes."
        ) { server in
            let row = try await server.insert()
            let response = try await server.update(row, [.text: "wrong"], headers: ["If-Match": "dGVzdA=="])
            server.expect(response, 400, 412)
            try await server.expectUnchanged(row, after: response.request)
        },
        rule(
            "conditional.update-unquoted-current",
            .protocol2,
            "If-Match takes the version with or without quotes.",
            in: "node-server-protocol2, Version and ETag",
            for: .nobody,
            "Updates a row with its version without quotes."
        ) { server in
            let row = try await server.insert()
            server.expect(try await server.update(row, headers: ["If-Match": row.version]), 200)
        },
        rule(
            "conditional.delete-current",
            .both,
            "A deletion with the current version in If-Match is carried out.",
            in: "datasync-protocol 1.6, 6.4 #23",
            "Deletes a row with its version, after an update."
        ) { server in
            let row = try server.row(of: try await server.update(try await server.insert()))
            server.expect(try await server.send("DELETE", row.id, headers: ["If-Match": row.tag]), 200, 204)
            server.expect(try await server.send("GET", row.id), 404, 410, after: "DELETE")
        },
        rule(
            "conditional.delete-stale",
            .both,
            "A deletion with another version in If-Match is a 412 with the server's row, and the row stays.",
            in: "datasync-protocol 1.6, 6.4 #23; node-server-protocol2, Delete",
            "Deletes a row with the version it had before, with one it never had, and with its own as a weak one."
        ) { server in
            let old = try await server.insert()
            let row = try server.row(of: try await server.update(old))
            for tag in [old.tag, noVersion, "W/\(row.tag)"] {
                let response = try await server.send("DELETE", row.id, headers: ["If-Match": tag])
                server.expect(response, 412)
                server.expectRow(response, row)
                try await server.expectUnchanged(row, after: response.request)
            }
        },
        rule(
            "conditional.delete-none-match",
            .protocol3,
            "If-None-Match with the current version is a 412 for a deletion; with another one it is carried out.",
            in: "datasync-protocol 1.6, 6.4 #23",
            "Deletes a row with each."
        ) { server in
            let row = try await server.insert()
            let response = try await server.send("DELETE", row.id, headers: ["If-None-Match": row.tag])
            server.expect(response, 412)
            try await server.expectUnchanged(row, after: response.request)
            server.expect(try await server.send("DELETE", row.id, headers: ["If-None-Match": noVersion]), 204)
        },
        rule(
            "conditional.create-ignores",
            .protocol3,
            "Creating looks at no conditional header.",
            in: "datasync-protocol 1.1",
            for: .nobody,
            "Creates a row with If-Match."
        ) { server in
            let item = server.item(server.newID())
            server.expect(try await server.send("POST", headers: ["If-Match": noVersion], item), 201)
        },
    ]
}

extension String {
    /// The text with the first letter in the other case; nil when it has none.
    fileprivate var withOtherCase: String? {
        guard let index = firstIndex(where: \.isASCIILetter) else { return nil }
        let letter = self[index]
        let other = letter.isUppercase ? letter.lowercased() : letter.uppercased()
        return self[..<index] + other + self[self.index(after: index)...]
    }
}

extension Character {
    fileprivate var isASCIILetter: Bool { isASCII && isLetter }
}
