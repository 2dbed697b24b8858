#pragma once

#include <stddef.h>

// A document of the page that the daemon serves to browsers, as it stands in this folder.
struct EmbeddedDocument {
    const unsigned char *bytes;
    size_t count;
};

struct EmbeddedDocument embedded_page_html(void);
struct EmbeddedDocument embedded_page_js(void);
struct EmbeddedDocument embedded_page_css(void);
struct EmbeddedDocument embedded_words_json(void);
struct EmbeddedDocument embedded_icon_svg(void);
