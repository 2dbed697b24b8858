#pragma once

#include <stdbool.h>
#include <stddef.h>

// A document of the page that the daemon serves to browsers, compressed by gzip.
struct EmbeddedDocument {
    const unsigned char *bytes;
    size_t count;
};

struct EmbeddedDocument embedded_page_html(void);
struct EmbeddedDocument embedded_page_js(void);
struct EmbeddedDocument embedded_page_css(void);
struct EmbeddedDocument embedded_words_json(void);
struct EmbeddedDocument embedded_icon_svg(void);

size_t inflated_count(struct EmbeddedDocument document);
// Writes so many bytes; false where there is no memory to do it.
bool inflate_document(struct EmbeddedDocument document, unsigned char *bytes);
