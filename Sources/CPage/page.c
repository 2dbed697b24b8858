// The compiler reads the documents of this folder into the program, and again when one of them has changed. They are
// compressed, which Tests/documents --write does.
#include "CPage.h"

#include <zlib.h>

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char html[] = {
#embed "made/page.html.gz"
};
static const unsigned char script[] = {
#embed "made/page.js.gz"
};
static const unsigned char style[] = {
#embed "made/page.css.gz"
};
static const unsigned char words[] = {
#embed "made/words.json.gz"
};
static const unsigned char icon[] = {
#embed "made/icon.svg.gz"
};

struct EmbeddedDocument embedded_page_html(void) { return (struct EmbeddedDocument){html, sizeof html}; }

struct EmbeddedDocument embedded_page_js(void) { return (struct EmbeddedDocument){script, sizeof script}; }

struct EmbeddedDocument embedded_page_css(void) { return (struct EmbeddedDocument){style, sizeof style}; }

struct EmbeddedDocument embedded_words_json(void) { return (struct EmbeddedDocument){words, sizeof words}; }

struct EmbeddedDocument embedded_icon_svg(void) { return (struct EmbeddedDocument){icon, sizeof icon}; }

// Its last four bytes, as gzip has them (RFC 1952).
size_t inflated_count(struct EmbeddedDocument document) {
    const unsigned char *end = document.bytes + document.count;
    return (size_t)end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 | (size_t)end[-1] << 24;
}

bool inflate_document(struct EmbeddedDocument document, unsigned char *bytes) {
    z_stream stream = {
        .next_in = (unsigned char *)document.bytes,
        .avail_in = (unsigned)document.count,
        .next_out = bytes,
        .avail_out = (unsigned)inflated_count(document),
    };
    // 16 stands for gzip's form of it.
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return false;
    int end = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return end == Z_STREAM_END;
}
