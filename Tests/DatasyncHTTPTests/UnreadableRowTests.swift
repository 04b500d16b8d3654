import Foundation
import HTTPTransport
import RemoteContract
import Synchronization
import SyncContract
import Testing

@testable import DatasyncHTTP

@Suite("Rows that spoil pages")
struct UnreadableRowTests {
    private static let table = TableDefinition("todo", columns: [.init("price", .double), .init("due", .date)])

    private func pull(
        _ transport: any ClientTransport,
        from start: PullPosition = .changes(since: nil),
        pageSize: Int? = nil
    ) async throws -> [PullPage] {
        let url = try #require(URL(string: "https://example.org"))
        let remote = try DatasyncRemote(baseURL: url, dialect: .datasync, transport: transport)
        var pages: [PullPage] = []
        var position: PullPosition? = start
        while let current = position {
            pages.append(try await remote.page(Query("todo"), of: Self.table, at: current, pageSize: pageSize))
            position = pages.last?.next
        }
        return pages
    }

    /// Loses the connection where a server answers 500.
    private struct BreakingTransport: ClientTransport {
        let server: StampServer

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            let response = try await server.send(request)
            guard response.status.code == 500 else { return response }
            throw TransportError(.connectionLost, "broken off", fate: .mayHaveBeenProcessed)
        }
    }

    /// Ends a body in its middle, and the answer with it.
    private struct CuttingTransport: ClientTransport {
        let server: StampServer

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            var response = try await server.send(request)
            guard response.status.code == 500 else { return response }
            response.status = .ok
            response.body = Array(#"{"items":[{"id":"r1","pri"#.utf8)
            return response
        }
    }

    @Test("are set aside and named, and all others come", arguments: [PullPosition.changes(since: nil), .everything])
    func unreadable(_ start: PullPosition) async throws {
        for pageSize in [1, 4, nil] {
            let server = StampServer()
            server.with { state in
                for index in 0..<12 { state.write("r\(index)", stamp: state.now + Int64(index) * 10_000) }
                state.unreadable = ["r3", "r8"]
            }
            for transport: any ClientTransport in [
                server, BreakingTransport(server: server), CuttingTransport(server: server),
            ] {
                let pages = try await pull(transport, from: start, pageSize: pageSize)
                #expect(Set(pages.flatMap(\.records).map(\.id)).count == 10)
                #expect(Set(pages.flatMap(\.setAside).map(\.id)) == ["r3", "r8"])
                #expect(pages.flatMap(\.setAside).allSatisfy { $0.reason.contains("cannot hand it over") })
            }
        }
    }

    @Test(
        "are none that are deleted: of those nothing but that is asked for",
        arguments: [PullPosition.changes(since: nil), .everything]
    )
    func deleted(_ start: PullPosition) async throws {
        let server = StampServer()
        server.with { state in
            for index in 0..<30 { state.write("r\(index)", isDeleted: index < 25) }
            state.unreadable = Set((0..<25).map { "r\($0)" })
        }
        let pages = try await pull(server, from: start)
        #expect(pages.flatMap(\.records).filter(\.isDeleted).count == 25)
        #expect(pages.flatMap(\.records).count == 30 && pages.allSatisfy(\.setAside.isEmpty))
    }

    /// Has no column that tells whether a row is deleted.
    private struct UndeletingTransport: ClientTransport {
        let server: StampServer

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            guard request.path?.contains("select=deleted") != true else {
                return HTTPResponse(status: .init(code: 400), body: Array(#"{"error":"no column 'deleted'"}"#.utf8))
            }
            return try await server.send(request)
        }
    }

    @Test("are set aside where the server cannot say which rows are deleted")
    func undeleted() async throws {
        let server = StampServer()
        server.with { state in
            for index in 0..<5 { state.write("r\(index)") }
            state.unreadable = ["r3"]
        }
        let pages = try await pull(UndeletingTransport(server: server))
        #expect(Set(pages.flatMap(\.records).map(\.id)).count == 4)
        #expect(pages.flatMap(\.setAside).map(\.id) == ["r3"])
    }

    @Test("take nothing from two others of which a filter by the id of one finds both")
    func besideOtherCase() async throws {
        let server = StampServer(StampServer.Settings(ignoresCaseOfIDs: true))
        server.with { state in
            for (index, id) in ["A", "a", "b"].enumerated() {
                state.write(id, stamp: state.now + Int64(index) * 10_000)
            }
            state.unreadable = ["b"]
        }
        let pages = try await pull(server)
        #expect(Set(pages.flatMap(\.records).map(\.id)) == ["A", "a"])
        #expect(Set(pages.flatMap(\.setAside).map(\.id)) == ["b"])
    }

    @Test("are set aside as long as they are few: a server that fails on many fails", arguments: [20, 21])
    func many(_ count: Int) async throws {
        let server = StampServer()
        server.with { state in
            for index in 0..<30 { state.write("r\(index)") }
            state.unreadable = Set((0..<count).map { "r\($0)" })
        }
        if count == 20 {
            #expect(try await pull(server).flatMap(\.setAside).count == 20)
        } else {
            await #expect(throws: RemoteError.self) { _ = try await pull(server) }
        }
    }

    @Test("are not blamed for a failure that passes")
    func passingFailure() async throws {
        let server = StampServer()
        server.with { state in
            state.write("a")
            state.unreadable = ["a"]
        }
        /// Fails once.
        final class Passing: ClientTransport {
            let server: StampServer
            let count = Mutex(0)

            init(_ server: StampServer) { self.server = server }

            func send(_ request: HTTPRequest) async throws -> HTTPResponse {
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                if !isFirst { server.with { $0.unreadable = [] } }
                return try await server.send(request)
            }
        }
        let pages = try await pull(Passing(server))
        #expect(pages.flatMap(\.records).count == 1 && pages.allSatisfy { $0.setAside.isEmpty })
        #expect(server.with { $0.requests.count } == 2)
    }

    /// Loses the connection at some of its requests, which are numbered from 1.
    private final class LosingTransport: ClientTransport {
        let server: StampServer
        let lost: Set<Int>
        let count = Mutex(0)

        init(_ server: StampServer, lost: Set<Int>) { (self.server, self.lost) = (server, lost) }

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            let number = count.withLock { count in
                count += 1
                return count
            }
            let response = try await server.send(request)
            guard lost.contains(number) else { return response }
            throw TransportError(.connectionLost, "lost", fate: .mayHaveBeenProcessed)
        }
    }

    /// What is lost is asked for twice. The page is lost, the list of its rows comes, then rows are lost, with or
    /// without what is asked in between.
    @Test("are not blamed for a network that fails: a row comes when it gets through, or the pull ends")
    func lossyNetwork() async throws {
        let server = StampServer()
        server.with { $0.write("a") }
        for lost in [[1, 2, 4, 5], [1, 2, 4, 5, 7, 8], [1, 2, 4, 5, 7, 8, 10, 11]] as [Set<Int>] {
            let pages = try await pull(LosingTransport(server, lost: lost))
            #expect(pages.flatMap(\.records).count == 1, "\(lost)")
            #expect(pages.allSatisfy { $0.setAside.isEmpty }, "\(lost)")
        }
        for lost in [[1, 2, 4, 5, 6, 7], [1, 2, 4, 5, 7, 8, 9, 10]] as [Set<Int>] {
            let error = await #expect(throws: RemoteError.self) { try await pull(LosingTransport(server, lost: lost)) }
            #expect(error?.code == .unreachable)
        }
    }

    @Test("are not blamed where the server fails for all of them: the pull ends with its failure")
    func failingServer() async throws {
        let server = StampServer()
        server.with { state in
            for index in 0..<40 { state.write("r\(index)") }
            state.unreadable = Set(state.rows.keys)
        }
        let error = await #expect(throws: RemoteError.self) { try await pull(server) }
        #expect(error?.code == .serverFailure && error?.status == 500)
        let down = await #expect(throws: RemoteError.self) { try await pull(Down()) }
        #expect(down?.code == .unreachable)
    }

    private struct Down: ClientTransport {
        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            throw TransportError(.connectionLost, "down", fate: .mayHaveBeenProcessed)
        }
    }

    @Test(
        "do so no more when one value or the id does not fit: the row is set aside",
        arguments: [
            (#"{"id":"a","price":"Infinity"}"#, "a", "price"), (#"{"id":"a","price":"NaN"}"#, "a", "price"),
            (#"{"id":"a","price":true}"#, "a", "price"), (#"{"id":"a","due":"soon"}"#, "a", "due"),
            (#"{"id":"","price":1}"#, "", "id"), (#"{"id":"a","updatedAt":7}"#, "a", "updatedAt"),
        ]
    )
    func unfit(_ row: String, _ id: String, _ word: String) async throws {
        let other = #"{"id":"b","price":"1.5","due":"2024-03-04T05:06:07.1239","updatedAt":"2024-03-04T05:06:07"}"#
        let transport = RecordingTransport(answer: #"{"items":[\#(row),\#(other)],"nextLink":null}"#)
        let pages = try await pull(transport)
        let page = try #require(pages.first)
        #expect(pages.count == 1)
        #expect(page.setAside.map(\.id) == [id])
        #expect(page.setAside.first?.reason.contains(word) == true)
        let record = try #require(page.records.first)
        // A date without a zone means UTC.
        #expect(record["due"] == .date(try #require(Timestamp("2024-03-04T05:06:07.1239Z"))))
        #expect(record.updatedAt == Timestamp("2024-03-04T05:06:07Z"))
        #expect(record["price"] == 1.5)
    }

    @Test("end a pull by id when the server goes round in a circle")
    func circle() async throws {
        /// Gives two ids in turn.
        struct Circling: ClientTransport {
            func send(_ request: HTTPRequest) async throws -> HTTPResponse {
                let isSecond = request.path?.contains("%27a%27") ?? false
                return HTTPResponse(status: .ok, body: Array(#"[{"id":"\#(isSecond ? "b" : "a")"}]"#.utf8))
            }
        }
        let error = await #expect(throws: RemoteError.self) {
            try await pull(Circling(), from: .everything, pageSize: 1)
        }
        #expect(error?.code == .invalidResponse)
    }
}
