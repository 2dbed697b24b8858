import PostgresTestSupport
import RelayPostgres
import Testing

@Suite("Values of PostgreSQL", .timeLimit(.minutes(5)))
struct ValueTests {
    /// A value, and how the server writes it as text.
    private static let values: [(PostgresValue, String, String?)] = [
        (.null, "text", nil), (.bool(true), "bool", "true"), (.bool(false), "bool", "false"),
        (.int16(-2), "int2", "-2"), (.int32(.min), "int4", "-2147483648"),
        (.int64(.max), "int8", "9223372036854775807"), (.text("Ünï 'x' \\"), "text", "Ünï 'x' \\"),
        (.text(""), "text", ""), (.bytes([]), "bytea", "\\x"), (.bytes([0, 1, 255]), "bytea", "\\x0001ff"),
        (.uuid(Array(0..<16)), "uuid", "00010203-0405-0607-0809-0a0b0c0d0e0f"),
        (.bools([true, false]), "bool[]", "{t,f}"), (.int16s([1, -1]), "int2[]", "{1,-1}"),
        (.int32s([]), "int4[]", "{}"), (.int64s([1, 2, 3]), "int8[]", "{1,2,3}"),
        (.optionalInt64s([1, nil]), "int8[]", "{1,NULL}"), (.texts(["a b", ""]), "text[]", "{\"a b\",\"\"}"),
        (.optionalTexts([nil, "NULL"]), "text[]", "{NULL,\"NULL\"}"),
        (.bytesArray([[1], []]), "bytea[]", "{\"\\\\x01\",\"\\\\x\"}"),
        (.optionalBytesArray([nil, [2]]), "bytea[]", "{NULL,\"\\\\x02\"}"),
        (
            .uuids([Array(repeating: 1, count: 16)]), "uuid[]",
            "{01010101-0101-0101-0101-010101010101}"
        ),
    ]

    @Test("Each type arrives at the server as what it is, prepared and not")
    func arriving() async throws {
        let settings = try await PostgresServer.shared().settings()
        try await onLoop { loop in
            let connection = try await PostgresConnection.open(settings, on: loop)
            for (value, type, text) in Self.values {
                // The second time the statement is there already.
                for _ in 0..<2 {
                    let result = try await connection.run("SELECT ($1::\(type))::text", [value])
                    #expect(result.count == 1 && result.text(0, 0) == text, "\(value)")
                    #expect(result.isNull(0, 0) == (text == nil))
                }
            }
        }
    }

    @Test("Each type comes back as what it was")
    func comingBack() async throws {
        let settings = try await PostgresServer.shared().settings()
        try await onLoop { loop in
            let connection = try await PostgresConnection.open(settings, on: loop)
            let result = try await connection.run(
                """
                SELECT 1::int2, -2::int4, 9223372036854775807, 'ä', '\\x00ff'::bytea, true, NULL::int8,
                '00010203-0405-0607-0809-0a0b0c0d0e0f'::uuid, ''::text UNION ALL
                SELECT -1, 2, -9223372036854775808, '', ''::bytea, false, 3, NULL, 'x'
                """
            )
            #expect(result.count == 2 && result.affected == 2 && !result.hasWarning)
            #expect((0..<3).map { result.int64(0, $0) } == [1, -2, .max])
            #expect((0..<3).map { result.int64(1, $0) } == [-1, 2, .min])
            #expect(result.text(0, 3) == "ä" && result.text(1, 3) == "")
            #expect(result.bytes(0, 4) == [0, 255] && result.bytes(1, 4) == [])
            #expect(result.bool(0, 5) == true && result.bool(1, 5) == false)
            #expect(result.int64(0, 6) == nil && result.isNull(0, 6) && result.int64(1, 6) == 3)
            #expect(result.bytes(0, 7) == Array(0..<16) && result.isNull(1, 7))
            #expect(result.text(0, 8) == "" && result.text(1, 8) == "x")
        }
    }

    @Test("A value that is not there, or is of another type, is nil")
    func absent() async throws {
        let settings = try await PostgresServer.shared().settings()
        try await onLoop { loop in
            let result = try await PostgresConnection.open(settings, on: loop).run("SELECT 'abc'::text")
            for (row, column) in [(1, 0), (0, 1), (-1, 0), (0, -1)] {
                #expect(result.bytes(row, column) == nil && result.isNull(row, column))
            }
            #expect(result.int64(0, 0) == nil && result.bool(0, 0) == nil && result.text(0, 0) == "abc")
        }
    }

    @Test("Rows that a statement changes are counted")
    func affected() async throws {
        let server = try await PostgresServer.shared()
        let settings = server.settings(schema: try server.makeSchema())
        try await onLoop { loop in
            let connection = try await PostgresConnection.open(settings, on: loop)
            let results = try await connection.run(
                [
                    PostgresStatement("CREATE TABLE t (n int8)"),
                    PostgresStatement("INSERT INTO t SELECT unnest($1::int8[])", [.int64s([1, 2, 3])]),
                    PostgresStatement("DELETE FROM t WHERE n > 1 RETURNING n"),
                ],
                within: ample
            )
            #expect(results.map(\.affected) == [0, 3, 2] && results.map(\.count) == [0, 0, 2])
        }
    }
}
