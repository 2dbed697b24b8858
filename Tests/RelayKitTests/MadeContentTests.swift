import RelayKit
import RelayTestSupport
import Testing

@Suite("Content that a program makes")
struct MadeContentTests {
    @Test("Text and bytes say what they are", .clauses("T-53"))
    func plain() {
        #expect(Content.text("").mediaType == MediaType.plainText)
        #expect(Content.raw([]).mediaType == MediaType.octetStream)
    }

    @Test("JSON content is what the encoder writes, with its media type", .clauses("T-57"))
    func json() throws {
        let content = try Content.json(Recipe(title: "soup"), encoder: RecipeCoder())
        #expect(content.body.text == #"{"title":"soup"}"# && content.mediaType == "application/json")
        #expect(throws: RecipeCoder.Unreadable.self) { try Content.json([1], encoder: RecipeCoder()) }
    }

    @Test(
        "JSON content may stand in a container",
        .clauses("T-58", "T-79"),
        arguments: [
            ("/data", #"{"data":{"title":"soup"}}"#), ("/a/b", #"{"a":{"b":{"title":"soup"}}}"#),
            ("", #"{"title":"soup"}"#),
        ]
    )
    func container(path: String, text: String) throws {
        let content = try Content.json(
            Recipe(title: "soup"),
            encoder: RecipeCoder(),
            container: pointer(path)
        )
        #expect(content.body.text == text && content.mediaType == "application/json")
    }

    @Test("A form keeps the order of its pairs and escapes what it must", .clauses("T-59"))
    func form() {
        let content = Content.form(["b": "1 2", "a&": "x+y/z?", "ü": "", "b": "~-._*"])
        #expect(content.body.text == "b=1+2&a%26=x%2By%2Fz%3F&%C3%BC=&b=%7E-._*")
        #expect(content.mediaType == "application/x-www-form-urlencoded")
    }
}
