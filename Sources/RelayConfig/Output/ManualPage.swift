import RelayJSON

/// The manual page waystation.json(5), in mdoc(7), made from the field table.
package enum ManualPage {
    package static var text: String {
        var sections: [(name: String, doc: String, body: String)] = []
        let root = ConfigurationTable.root.objectShape
        var lines = [header]
        lines += body(root.fields)
        collect(root.fields.map(\.shape), into: &sections)
        for section in sections {
            lines.append(".Ss The \(title(section.name)) object")
            lines.append(paragraph(section.doc))
            if !section.body.isEmpty { lines.append(section.body) }
        }
        lines += [order, footer]
        return lines.joined(separator: "\n") + "\n"
    }

    private static let header = #"""
        .Dd November 20, 2026
        .Dt WAYSTATION.JSON 5
        .Os
        .Sh NAME
        .Nm waystation.json
        .Nd configuration of waystationd
        .Sh DESCRIPTION
        .Nm
        is one JSON object (RFC 8259), encoded in UTF-8, without comments.
        Keys are unique; an unknown key is an error.
        Every object may hold a
        .Dq $comment ,
        which is ignored.
        .Pp
        Times are strings of whole numbers with units, from large to small:
        .Dq 250ms ,
        .Dq 1h30m ,
        .Dq 3d .
        Sizes likewise:
        .Dq 512B ,
        .Dq 256KiB ,
        .Dq 16MiB ,
        .Dq 2GiB .
        A plain number never means a time or a size.
        .Pp
        A secret never stands in the file, only where it is kept:
        .Bl -tag -width Ds
        .It {\(dqcredential\(dq: \(dqNAME\(dq}
        A file of that name in the directory systemd passes with LoadCredential=.
        .It {\(dqfile\(dq: \(dqPATH\(dq}
        A file that neither its group nor others may read.
        .It {\(dqenv\(dq: \(dqNAME\(dq}
        An environment variable.
        .El
        .Sh KEYS
        """#

    private static let order = #"""
        .Sh ORDER OF EVALUATION
        Each attempt is judged by the keys of its route in this order; what a route
        does not set is passed over.
        .Bl -tag -width Ds
        .It Cm response.redirects
        A redirect that is followed leads on to the answer it leads to; any other is
        an answer.
        .It Cm api_error
        An answer with the error document is a failure of the kind api_error,
        whatever its status and whatever
        .Cm success
        says.
        Unless a rule helps, the caller gets it as it came.
        .It Cm success.status
        An answer with another status is a failure of the kind http_status.
        Unless a rule helps, the caller gets it as it came.
        .It Cm quick_recovery
        The failures found so far, and those without an answer, may be successes:
        the caller gets what
        .Cm as
        says, and nothing below is asked.
        .It Cm success , response
        Of a success
        .Cm content_type ,
        .Cm empty ,
        .Cm fail
        and
        .Cm require
        are checked, then
        .Cm unwrap
        is done.
        What does not pass is a failure, and the caller gets 502 of the relay in its
        place, never the answer; what
        passes is the caller's.
        .It Cm error_types
        Names the failure, whatever found it.
        .It Cm recovery
        The first rule that is for the failure and may act does.
        What is not sent to a failing upstream fails as breaker_open or
        rate_limited: failover and respond act on that as on what has led to it
        (500, 502, 503, 504, connection and timeout; 429 and 503), and a retry that is
        for those counts as spent.
        What is sent again meets all of this anew.
        When none acts the caller gets the failure: the upstream's answer, 502 or 504.
        .El
        .Pp
        A request that waits for its answer, on a route without rules, is sent once,
        and a second time only after a 401
        to a credential that can be fetched again; a kept job is then sent again for
        two days.
        An answer that says too many came, 429 or 503 with
        .Li Retry-After ,
        costs such a job no attempt: it is sent again after a quarter of a second, and
        after twice as long each time, up to 256 s.
        A 503 without that field does so four times a job while the upstream answers others.
        """#

    private static let footer = #"""
        .Sh FILES
        .Bl -tag -width Ds
        .It Pa /etc/waystation/waystation.json
        The configuration.
        .It Pa /usr/share/waystation/waystation.schema.json
        Its schema, for editors.
        .El
        .Sh EXIT STATUS
        A configuration with errors makes
        .Ic waystationd
        exit with 78.
        Every error is reported at once, with its line, column and JSON pointer.
        """#

    /// A list of keys, or nothing.
    private static func body(_ fields: [FieldShape]) -> [String] {
        let fields = fields.filter { !$0.isReserved }
        guard !fields.isEmpty else { return [] }
        var lines = [".Bl -tag -width Ds"]
        for field in fields {
            lines.append(".It Cm \(escape(field.key)) Pq \(escape(summary(field)))")
            lines.append(paragraph(field.doc))
            if let value = field.defaultValue, field.shape.isLeaf {
                lines.append(paragraph("Default: \(listed(value))."))
            }
        }
        return lines + [".El"]
    }

    /// JSON with a space after each comma, where a line may break.
    private static func listed(_ value: JSONValue) -> String {
        guard case .array(let elements) = value else {
            return String(decoding: value.encoded(), as: UTF8.self)
        }
        return "[" + elements.map(listed).joined(separator: ", ") + "]"
    }

    private static func summary(_ field: FieldShape) -> String {
        var what = describe(field.shape)
        if field.isRequired { what += "; required" }
        return what
    }

    private static func describe(_ shape: Shape) -> String {
        switch shape {
        case .object(let object): "the \(title(object.name)) object"
        case .tagged(let tagged): "the \(title(tagged.name)) object"
        case .list(let element, _): "a list, each \(describe(element))"
        case .map(let element, let name): "an object of \(name.what) to \(describe(element))"
        case .either(let one, let other): "\(describe(one)), or \(describe(other))"
        default: shape.what
        }
    }

    /// Gathers the objects that `shapes` are made of, each once, in the order in which they are mentioned.
    private static func collect(
        _ shapes: [Shape],
        into sections: inout [(name: String, doc: String, body: String)]
    ) {
        for shape in shapes {
            switch shape {
            case .list(let element, _), .map(let element, _): collect([element], into: &sections)
            case .either(let one, let other): collect([one, other], into: &sections)
            case .object(let object):
                guard !sections.contains(where: { $0.name == object.name }) else { continue }
                let body = body(object.fields).joined(separator: "\n")
                sections.append((object.name, object.doc, body))
                collect(object.fields.map(\.shape), into: &sections)
            case .tagged(let tagged):
                guard !sections.contains(where: { $0.name == tagged.name }) else { continue }
                let names = tagged.variants.map { "the \(title($0.name)) object" }
                let kinds = "Its \"\(tagged.key)\" makes it one of: \(names.joined(separator: ", "))."
                sections.append((tagged.name, "\(tagged.doc)\n\(kinds)", ""))
                collect(tagged.variants.map { .object($0) }, into: &sections)
            default: break
            }
        }
    }

    private static func title(_ name: String) -> String { String(name.map { $0 == "_" ? " " : $0 }) }

    /// Text for a macro's arguments: backslashes are literal, quotes do not group.
    private static func escape(_ text: String) -> String {
        text.reduce(into: "") { text, next in
            switch next {
            case "\\": text += "\\e"
            case "\"": text += "\\(dq"
            case "-": text += "\\-"
            default: text.append(next)
            }
        }
    }

    /// Running text: every sentence on a line of its own, no line longer than 78 bytes, none taken for a macro.
    private static func paragraph(_ text: String) -> String {
        var lines: [String] = []
        var line = ""
        for word in escape(text).split(whereSeparator: \.isWhitespace) {
            if !line.isEmpty, line.utf8.count + 1 + word.utf8.count > 78 {
                lines.append(line)
                line = ""
            }
            let isMacro = line.isEmpty && (word.hasPrefix(".") || word.hasPrefix("'"))
            line += line.isEmpty ? (isMacro ? "\\&" : "") + word : " \(word)"
            if word.hasSuffix(".") {
                lines.append(line)
                line = ""
            }
        }
        return (line.isEmpty ? lines : lines + [line]).joined(separator: "\n")
    }
}
